package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/scripts/crash/faults"
)

// failing are the operations whose file-system calls are made to fail, and
// whether those of a daemon that does them are, too.
var failing = map[string]bool{
	"snapshot": true, "import": false, "restore": true, "undo": false, "redo": false, "first": false, "hook": true, "fork": true,
}

// inject makes file-system calls of the operations fail, one each time, and looks
// at what is there then: each call of each kind in each of its ways, or some. Its
// error says all that was wrong.
func (h *harness) inject(ctx context.Context) error {
	w, err := h.faultWorld(ctx)
	if err != nil {
		return err
	}
	for range countings {
		for _, wy := range h.ways {
			if _, err := h.one(ctx, w, wy, death{fault: faults.Counts}, death{}); err != nil {
				return fmt.Errorf("%s, undisturbed: %w", wy, err)
			}
		}
	}
	h.possible = len(h.trials(faults.Of))
	if h.each {
		err = h.injectEach(ctx, w)
	} else {
		trials := h.chosen()
		fmt.Fprintf(h.out, "%d of %d faults are to be\n", len(trials), h.possible)
		err = h.failAll(ctx, w, trials)
	}
	return errors.Join(append(append(h.failures, err), ctx.Err())...)
}

// failAll makes calls fail, in several worlds at once, of which w is the first if it
// is there. What is wrong then is noted.
func (h *harness) failAll(ctx context.Context, w *world, trials []trial) error {
	slices.SortStableFunc(trials, func(a, b trial) int { return a.way.weight() - b.way.weight() })
	next := make(chan trial)
	var all sync.WaitGroup
	errs := make([]error, h.workers)
	for i := range h.workers {
		in := w
		all.Go(func() { errs[i] = h.failIn(ctx, in, next) })
		w = nil // the first worker's
	}
	for n, one := range trials {
		if n > 0 && n%progressEach == 0 {
			h.progress(fmt.Sprintf("%d calls have failed, or were to", n))
		}
		if h.rest(ctx) || h.enough() {
			break
		}
		next <- one
	}
	close(next)
	all.Wait()
	return errors.Join(errs...)
}

// weight is how much an operation adds to what there is to look at in a world, in
// which those that add the most come last: it holds more than one other then.
func (w way) weight() int {
	if w.name == "import" {
		return 8
	}
	return 1
}

// countings is how often each operation is done undisturbed: its calls are as many
// as the most.
const countings = 3

// progressEach is after how many calls that failed, or kills, it is said how many.
const progressEach = 200

// failIn makes calls fail in one world after the other: one in which something is
// wrong is left as it is. The first may be there, else w is nil.
func (h *harness) failIn(ctx context.Context, w *world, next <-chan trial) error {
	var since []string
	var broken error // no world can be made
	done := 0
	for one := range next {
		if broken != nil || ctx.Err() != nil || h.enough() {
			continue
		}
		if w == nil {
			if w, broken = h.faultWorld(ctx); broken != nil {
				continue
			}
			done, since = 0, nil
		}
		what, err := h.one(ctx, w, one.way, death{fault: one.fault}, death{})
		done += one.way.weight()
		if since = append(since, what); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		} else if len(since) == fullEach {
			err = h.everything(ctx, w, since)
			since = nil
		}
		switch {
		case err != nil && ctx.Err() == nil:
			h.wrong(w, err)
			w = nil
		case done >= worldEach:
			broken = h.leave(w)
			w = nil
		}
	}
	if w == nil || broken != nil || ctx.Err() != nil {
		return broken
	}
	if err := h.everything(ctx, w, since); err != nil {
		h.wrong(w, err)
		return nil
	}
	return h.leave(w)
}

// leave removes a world in which all is right, and counts its snapshots.
func (h *harness) leave(w *world) error {
	h.mu.Lock()
	h.Acked += len(w.order)
	h.mu.Unlock()
	return removeAll(w.dir)
}

// wrong notes what is wrong in a world.
func (h *harness) wrong(w *world, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.failures = append(h.failures, fmt.Errorf("in %s: %w", w.dir, err))
	fmt.Fprintf(h.out, "wrong in %s: %v\n", w.dir, err)
}

// enough reports whether so much is wrong that the rest is not worth the time.
func (h *harness) enough() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.failures) >= mostFailures
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 11)) }

// A trial is one call of an operation that is to fail.
type trial struct {
	way   way
	fault faults.Fault
}

// chosen are all trials, or as many as are wanted of those that differ: of each way,
// kind of call and error about as many. They are the same for a seed as long as such
// calls are made, whatever others come or go: a commit is tried with what the one
// before it was tried with.
func (h *harness) chosen() []trial {
	if h.faults == 0 {
		return h.trials(faults.Of)
	}
	groups := map[string][]trial{}
	for _, one := range h.trials(func(calls map[faults.Spot]int) []faults.Fault { return eachClass(calls, 0, nil) }) {
		name := fmt.Sprint(one.way, one.fault.Kind, int(one.fault.Err))
		groups[name] = append(groups[name], one)
	}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b trial) int { return cmp.Compare(h.rank(a.fault.String()), h.rank(b.fault.String())) })
	}
	names := slices.SortedFunc(maps.Keys(groups), func(a, b string) int { return cmp.Compare(h.rank(a), h.rank(b)) })
	var some []trial
	for round, more := 0, true; more; round++ {
		more = false
		for _, name := range names {
			if group := groups[name]; round < len(group) && len(some) < h.faults {
				some, more = append(some, group[round]), true
			}
		}
	}
	return some
}

// trials are those of each way whose faults list names.
func (h *harness) trials(list func(map[faults.Spot]int) []faults.Fault) []trial {
	var all []trial
	for _, wy := range h.ways {
		for _, f := range list(h.calls[wy.String()]) {
			all = append(all, trial{wy, f})
		}
	}
	return all
}

// rank is where a name stands in the draw of a seed.
func (h *harness) rank(name string) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", h.seed, name))
	return binary.LittleEndian.Uint64(sum[:])
}

// faultWorld makes another world.
func (h *harness) faultWorld(ctx context.Context) (*world, error) {
	h.mu.Lock()
	n := h.worlds
	h.worlds++
	h.mu.Unlock()
	w, err := newWorld(ctx, h.binary, filepath.Join(h.dir, fmt.Sprintf("world-%d", n)), h.seed*1000+uint64(n))
	if err != nil {
		return nil, fmt.Errorf("make a world: %w", err)
	}
	return w, nil
}

// keepFailing keeps the ways of the operations whose calls fail.
func (h *harness) keepFailing() {
	h.ways = slices.DeleteFunc(h.ways, func(wy way) bool {
		served, listed := failing[wy.name]
		return !listed || wy.daemon && !served
	})
	if h.only == "" {
		h.ways = append(h.ways, way{operation{name: "start", daemon: true, prepare: starting}, true})
	}
}

// starting is a snapshot, and the start of the daemon that takes it.
func starting(ctx context.Context, w *world) (scene, error) {
	s, err := snapshotting((*world).few)(ctx, w)
	s.start = true
	return s, err
}

// noteFault counts a call that failed, or that was to.
func (h *harness) noteFault(name string, f faults.Fault, of fate) {
	switch {
	case f == faults.Counts:
		h.learnCalls(name, of.calls)
	case !of.hit:
		h.Spared++
		h.learnCalls(name, of.calls)
	default:
		if h.Failed[name] == nil {
			h.Failed[name] = map[string]int{}
		}
		h.Failed[name][f.Kind]++
		if f.Place != "" {
			h.Classes.add(name, f, 1)
		}
		if of.code != 0 {
			h.Errors++
		}
	}
}

// learnCalls notes which calls a way makes where nothing fails. The caller holds h.mu.
func (h *harness) learnCalls(name string, calls map[faults.Spot]int) {
	if h.calls[name] == nil {
		h.calls[name] = map[faults.Spot]int{}
	}
	for at, n := range calls {
		h.calls[name][at] = max(h.calls[name][at], n)
	}
}

// injected counts the calls that failed.
func (h *harness) injected() int {
	n := 0
	for _, kinds := range h.Failed {
		for _, count := range kinds {
			n += count
		}
	}
	return n
}

// faultSummary says in Markdown which calls failed, and that all held.
func (h *harness) faultSummary(at time.Time) string {
	var kinds []string
	for kind := range faults.Kinds {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	lines := []string{
		fmt.Sprintf("%s, in %s: %d file-system calls failed, each once, in a command of its own, which ended with an error that says why %d times and could do its work all the same %d times; %d more were to fail, and were not made. All that can be are %d.",
			at.UTC().Format("2006-01-02"), h.lasted(at), h.injected(), h.Errors, h.injected()-h.Errors, h.Spared, h.possible),
		fmt.Sprintf("After each, the next command worked, and the workspace was wholly old or wholly new, but for paths that the command itself had named; %d times everything was looked at, as after kills.", h.Full) + h.mended(),
		h.roomSummary(),
	}
	lines = append(lines, "")
	lines = append(append(lines, h.Classes.summary()...),
		"| operation | "+strings.Join(kinds, " | ")+" |",
		"|---|"+strings.Repeat("---|", len(kinds)),
	)
	for _, wy := range h.ways {
		cells := []string{wy.String()}
		for _, kind := range kinds {
			cells = append(cells, fmt.Sprint(h.Failed[wy.String()][kind]))
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	return strings.Join(lines, "\n") + "\n"
}

// roomSummary says what was done without room.
func (h *harness) roomSummary() string {
	if h.undisked != nil {
		return fmt.Sprintf("Disks without room: not in this run, for no small disk could be had: %v.", h.undisked)
	}
	if h.Cramped == 0 {
		return "Disks without room: not in these runs, but in `TestNoRoom`."
	}
	return fmt.Sprintf("On disks without room, %d commands more, of which %d ended with an error that says so.", h.Cramped, h.Refused)
}
