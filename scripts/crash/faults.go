package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// failing are the operations whose file-system calls are made to fail.
var failing = []string{"snapshot", "import"}

// inject makes file-system calls of the operations fail, one each time, and looks
// at what is there then: each call of each kind in each of its ways, or some. Its
// error says all that was wrong.
func (h *harness) inject(ctx context.Context) error {
	w, err := h.faultWorld(ctx, 0)
	if err != nil {
		return err
	}
	r := newRand(h.seed)
	since, made := []string(nil), 0
	for _, one := range h.chosen(r) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		what, err := h.one(ctx, w, one.way, death{fault: one.fault}, death{})
		if since = append(since, what); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		} else if len(since) == fullEach {
			err = h.everything(ctx, w, since)
			since = nil
		}
		if err == nil {
			continue
		}
		h.failures = append(h.failures, fmt.Errorf("in %s: %w", w.dir, err))
		fmt.Fprintf(h.out, "wrong in %s: %v\n", w.dir, err)
		if len(h.failures) >= mostFailures {
			break
		}
		made, since = made+1, nil
		if w, err = h.faultWorld(ctx, made); err != nil {
			return err
		}
	}
	h.acked = len(w.order)
	if err := h.everything(ctx, w, since); err != nil {
		h.failures = append(h.failures, err)
	}
	return errors.Join(h.failures...)
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 11)) }

// A trial is one call of an operation that is to fail.
type trial struct {
	way   way
	fault fault
}

// chosen are all trials, or as many as are wanted, of each way and kind of call
// about as many.
func (h *harness) chosen(r *rand.Rand) []trial {
	var all []trial
	groups := map[string][]trial{}
	var names []string
	for _, wy := range h.ways {
		for _, f := range faultsOf(h.calls[wy.name]) {
			one := trial{wy, f}
			all = append(all, one)
			name := fmt.Sprint(wy.name, f.call, int(f.err))
			if groups[name] == nil {
				names = append(names, name)
			}
			groups[name] = append(groups[name], one)
		}
	}
	if h.faults == 0 || h.faults >= len(all) {
		return all
	}
	var some []trial
	for len(some) < h.faults {
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names[:min(len(names), h.faults-len(some))] {
			group := groups[name]
			some = append(some, group[r.IntN(len(group))])
		}
	}
	return some
}

// faultWorld makes a world. In the first, each operation is done once undisturbed,
// and its calls are counted.
func (h *harness) faultWorld(ctx context.Context, n int) (*world, error) {
	w, err := newWorld(ctx, h.binary, filepath.Join(h.dir, fmt.Sprintf("world-%d", n)), h.seed*1000+uint64(n))
	if err != nil {
		return nil, fmt.Errorf("make a world: %w", err)
	}
	if n > 0 {
		return w, nil
	}
	for _, wy := range h.ways {
		if _, err := h.one(ctx, w, wy, death{fault: fault{call: counting}}, death{}); err != nil {
			return nil, fmt.Errorf("%s, undisturbed: %w", wy, err)
		}
	}
	return w, nil
}

// keepFailing keeps the ways of the operations whose calls fail: without a daemon.
func (h *harness) keepFailing() {
	h.ways = slices.DeleteFunc(h.ways, func(wy way) bool { return wy.daemon || !slices.Contains(failing, wy.name) })
}

// noteFault counts a call that failed, or that was to.
func (h *harness) noteFault(name string, f fault, of fate) {
	switch {
	case f.call == counting:
		h.calls[name] = of.calls
	case !of.hit:
		h.spared++
	default:
		if h.failed[name] == nil {
			h.failed[name] = map[string]int{}
		}
		h.failed[name][f.call]++
		if of.code != 0 {
			h.errors++
		}
	}
}

// injected counts the calls that failed.
func (h *harness) injected() int {
	n := 0
	for _, kinds := range h.failed {
		for _, count := range kinds {
			n += count
		}
	}
	return n
}

// faultSummary says in Markdown which calls failed, and that all held.
func (h *harness) faultSummary(at time.Time) string {
	var kinds []string
	for kind := range callKinds {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	lines := []string{
		fmt.Sprintf("%s: %d file-system calls failed, each once, in a command of its own, which ended with an error that says why %d times and could do its work all the same %d times; %d more were to fail, and were not made.",
			at.UTC().Format("2006-01-02"), h.injected(), h.errors, h.injected()-h.errors, h.spared),
		fmt.Sprintf("After each, the next command worked, and the workspace was wholly old or wholly new; %d times everything was looked at, as after kills.", h.full),
		"",
		"| operation | " + strings.Join(kinds, " | ") + " |",
		"|---|" + strings.Repeat("---|", len(kinds)),
	}
	for _, wy := range h.ways {
		cells := []string{wy.name}
		for _, kind := range kinds {
			cells = append(cells, fmt.Sprint(h.failed[wy.name][kind]))
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	return strings.Join(lines, "\n") + "\n"
}
