package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/scripts/crash/faults"
	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A way is an operation in one of the processes that can do it.
type way struct {
	operation
	daemon bool
}

func (w way) String() string {
	if w.daemon {
		return w.name + " in a daemon"
	}
	return w.name
}

// harness kills processes until it has killed enough, in several worlds at once.
type harness struct {
	options
	out    io.Writer
	points map[string]string // where each failpoint stands
	ways   []way

	mu sync.Mutex
	tally
	begun    int                       // attempts at a kill that are under way or done
	passes   map[string]map[string]int // by way: the most passes of each point
	took     map[string]time.Duration  // by way
	failures []error

	calls    map[string]map[faults.Spot]int // file-system calls by way
	worlds   int                            // made for calls to fail in
	possible int                            // faults, each call in each of its ways
	undisked error                          // why there were no small disks
	began    time.Time
}

// recovering is the way of commands that come after a kill.
const recovering = "recovery"

func newHarness(o options, out io.Writer, points map[string]string) *harness {
	h := &harness{options: o, out: out, points: points, began: time.Now(), tally: newTally(), passes: map[string]map[string]int{}, took: map[string]time.Duration{},
		calls: map[string]map[faults.Spot]int{}}
	for _, op := range operations() {
		if o.only != "" && o.only != op.name {
			continue
		}
		if !op.daemon {
			h.ways = append(h.ways, way{op, false})
		}
		if !op.inside {
			h.ways = append(h.ways, way{op, true})
		}
	}
	return h
}

// run kills processes. Its error says all that was wrong.
func (h *harness) run(ctx context.Context) error {
	var all sync.WaitGroup
	errs := make([]error, h.workers)
	for i := range h.workers {
		all.Go(func() { errs[i] = h.work(ctx, i) })
	}
	all.Wait()
	errs = append(errs, h.failures...)
	if h.only == "" && !h.some && ctx.Err() == nil && !h.over() {
		errs = append(errs, h.unreached())
	}
	return errors.Join(errs...)
}

// unreached is an error that names the points at which nobody was killed.
func (h *harness) unreached() error {
	var names []string
	for name, where := range h.points {
		if h.At[name] == 0 {
			names = append(names, name+" ("+where+")")
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return fmt.Errorf("no process was killed at %d failpoints: %s", len(names), strings.Join(names, ", "))
}

// mostFailures is after how many the rest is not worth the time.
const mostFailures = 12

// work kills in one world after the other, until there were enough kills: one in
// which something is wrong is left as it is.
func (h *harness) work(ctx context.Context, worker int) error {
	for n := 0; ; n++ {
		seed := h.seed*1000 + uint64(worker)*100 + uint64(n)
		dir := filepath.Join(h.dir, fmt.Sprintf("world-%d-%d", worker, n))
		w, err := newWorld(ctx, h.binary, dir, seed)
		if err != nil {
			return fmt.Errorf("make a world: %w", err)
		}
		err = errors.Join(h.inWorld(ctx, w, worker == 0 && n == 0), w.end())
		h.mu.Lock()
		h.Acked += len(w.order)
		if err == nil || ctx.Err() != nil {
			enough := ctx.Err() != nil || h.done() || h.over()
			h.mu.Unlock()
			if err := errors.Join(ctx.Err(), removeAll(dir)); err != nil || enough {
				return err
			}
			continue
		}
		h.failures = append(h.failures, fmt.Errorf("in %s: %w", dir, err))
		fmt.Fprintf(h.out, "wrong in %s: %v\n", dir, err)
		enough := len(h.failures) >= mostFailures
		h.mu.Unlock()
		if err := w.umbra.Stop(); err != nil || enough {
			return err
		}
	}
}

// fullEach is after how many kills everything is looked at, and worldEach after
// how many another world is made: what is looked at costs more the longer the
// history is.
const (
	fullEach  = 25
	worldEach = 10 * fullEach
)

func (h *harness) inWorld(ctx context.Context, w *world, first bool) error {
	if first {
		if err := h.look(ctx, w); err != nil {
			return err
		}
	}
	var since []string
	for range worldEach {
		if h.rest(ctx) {
			break
		}
		wy, d, again, ok := h.next(w.rand)
		if !ok {
			break
		}
		what, err := h.one(ctx, w, wy, d, again)
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		since = append(since, what)
		if len(since) == fullEach {
			if err := h.everything(ctx, w, since); err != nil {
				return err
			}
			since = nil
		}
	}
	return h.everything(ctx, w, since)
}

// over reports whether no more trials are to begin.
func (h *harness) over() bool { return lab.Over(h.end) }

// rest is over, when it has waited while it is to pause.
func (h *harness) rest(ctx context.Context) bool { return lab.Rest(ctx, h.end, h.pause) }

// progress says how far it has come.
func (h *harness) progress(what string) {
	fmt.Fprintf(h.out, "%s: %s\n", time.Since(h.began).Round(time.Second), what)
}

func (h *harness) everything(ctx context.Context, w *world, since []string) error {
	h.mu.Lock()
	h.Full++
	h.mu.Unlock()
	if err := w.full(ctx); err != nil {
		return fmt.Errorf("%w\nafter:\n  %s", err, strings.Join(since, "\n  "))
	}
	return nil
}

// look lets each way come to its end once, to learn which points it passes and
// how long it takes.
func (h *harness) look(ctx context.Context, w *world) error {
	for _, wy := range h.ways {
		began := time.Now()
		if _, err := h.one(ctx, w, wy, death{}, death{}); err != nil {
			return fmt.Errorf("%s, undisturbed: %w", wy, err)
		}
		h.looked(wy, time.Since(began))
	}
	return w.full(ctx)
}

// looked says how many points a way passes, and how long it takes.
func (h *harness) looked(wy way, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(h.out, "%s: %d points, %s\n", wy, len(h.passes[wy.String()]), took.Round(time.Millisecond))
}

// next chooses who is to die, and how: at the point of the fewest kills, or, one
// time in four once each point had one, by the clock; and what recovers afterwards, one time in four.
func (h *harness) next(r *rand.Rand) (way, death, death, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.done() {
		return way{}, death{}, death{}, false
	}
	if h.begun++; h.begun%progressEach == 0 {
		h.progress(fmt.Sprintf("%d processes were killed, in %d attempts", h.killed(), h.begun))
	}
	d := death{brood: r.IntN(2) == 0}
	wy := h.ways[r.IntN(len(h.ways))]
	if point, ways := h.fewest(r, h.ways); point != "" && (h.At[point] == 0 || r.IntN(4) > 0) {
		wy = ways[r.IntN(len(ways))]
		if other := ways[r.IntN(len(ways))]; h.took[other.String()] < h.took[wy.String()] {
			wy = other // those that cost less, more often
		}
		d.point, d.pass = point, 1
		if h.At[point] > 0 { // fewer come to a later pass
			d.pass = passOf(r, h.passes[wy.String()][point])
		}
	} else {
		d.after = 1 + time.Duration(r.Int64N(int64(h.took[wy.String()])+1))
	}
	again := death{}
	if passes := h.passes[recovering]; r.IntN(4) == 0 && len(passes) > 0 {
		names := make([]string, 0, len(passes))
		for name := range passes {
			names = append(names, name)
		}
		slices.SortFunc(names, func(a, b string) int { return h.At[a] - h.At[b] })
		again.point = names[r.IntN(1+len(names)/3)]
		again.pass = passOf(r, passes[again.point])
	}
	return wy, d, again, true
}

// passOf is one of so many passes, at most: the earlier rather, since few come to
// the last.
func passOf(r *rand.Rand, most int) int { return 1 + r.IntN(1+r.IntN(most)) }

// mostAttempts is how many attempts there are for each kill that is wanted.
const mostAttempts = 5

// done reports whether there were enough kills, at each failpoint one where that is
// asked for. The caller holds h.mu.
func (h *harness) done() bool {
	if h.begun >= mostAttempts*h.kills {
		return true
	}
	return h.killed() >= h.kills && (h.only != "" || h.some || h.unreached() == nil)
}

// fewest is a point at which the fewest were killed, and the ways that pass it.
func (h *harness) fewest(r *rand.Rand, all []way) (string, []way) {
	by := map[string][]way{}
	for _, wy := range all {
		for name := range h.passes[wy.String()] {
			by[name] = append(by[name], wy)
		}
	}
	least, names := -1, []string(nil)
	for name := range by {
		switch n := h.At[name]; {
		case least < 0 || n < least:
			least, names = n, []string{name}
		case n == least:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", nil
	}
	slices.Sort(names)
	name := names[r.IntN(len(names))]
	return name, by[name]
}

// one kills once, recovers, and looks at what is there then.
func (h *harness) one(ctx context.Context, w *world, wy way, d, again death) (what string, err error) {
	w.daemon = wy.daemon
	what = fmt.Sprintf("%s, %s", wy, d)
	s, err := wy.prepare(ctx, w)
	if err != nil {
		return what, fmt.Errorf("prepare: %w", err)
	}
	began := time.Now()
	f, err := h.executed(ctx, w, wy.String(), s, d)
	if s.stop != nil {
		if err == nil {
			_, err = w.alone(ctx, w.work, "snapshot")
		}
		err = errors.Join(err, s.stop())
	}
	if err != nil {
		return what, err
	}
	h.note(wy.String(), d, f, time.Since(began))
	if f.hit {
		what += " at " + f.at
	}
	if f.killed && again != (death{}) {
		what += "; the next " + again.String()
	} else {
		again = death{}
	}
	switch {
	case d.fails():
		if err := errors.Join(d.plain(f), w.heedFailing(ctx, s, f)); err != nil {
			return what, err
		}
	case s.told:
		w.heed(f, s.old)
	}
	if !f.killed && f.code != 0 && f.code != partlyCode && d == (death{}) {
		return what, fmt.Errorf("%s", f)
	}
	if err := h.recovered(ctx, w, again); err != nil {
		return what, err
	}
	if err := w.quick(s, f); err != nil {
		return what, err
	}
	if s.settle != nil {
		if err := s.settle(ctx, w, f); err != nil {
			return what, err
		}
	}
	return what, nil
}

func (h *harness) recovered(ctx context.Context, w *world, again death) error {
	if err := removeAll(w.log); err != nil {
		return err
	}
	f, err := w.recover(ctx, again)
	if err != nil {
		return err
	}
	if again != (death{}) {
		h.mu.Lock()
		if f.killed {
			h.Second++
		}
		h.mu.Unlock()
		h.note("", again, f, 0)
	}
	return h.learn(w, recovering)
}

// executed is execute, with what it passed learned.
func (h *harness) executed(ctx context.Context, w *world, name string, s scene, d death) (fate, error) {
	if err := removeAll(w.log); err != nil {
		return fate{}, err
	}
	give := func() error { return nil }
	if d.room != (room{}) {
		var err error
		if give, err = w.take(d.room); err != nil {
			return fate{}, fmt.Errorf("leave %s: %w", d.room, err)
		}
	}
	f, err := w.execute(ctx, s, d)
	if err := errors.Join(err, give()); err != nil {
		return f, err
	}
	return f, h.learn(w, name)
}

func (h *harness) learn(w *world, name string) error {
	count, err := passed(w.log)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.passes[name]
	if known == nil {
		known = map[string]int{}
		h.passes[name] = known
	}
	for point, n := range count {
		known[point] = max(known[point], n)
	}
	return nil
}

// note counts a kill.
func (h *harness) note(name string, d death, f fate, took time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case d == (death{}):
		h.took[name] = took
	case d.fault != (faults.Fault{}):
		h.noteFault(name, d.fault, f)
	case d.room != (room{}):
		h.Cramped++
		if f.code != 0 {
			h.Refused++
		}
	case !f.killed:
		h.Survived++
	case d.point != "":
		h.At[d.point]++
	default:
		h.Timed++
	}
}

// tried counts what was done to processes: kills, or calls that failed or were to.
func (h *harness) tried() int {
	if h.failing {
		return h.injected() + h.Spared
	}
	return h.killed()
}

// killed counts the processes that were.
func (h *harness) killed() int {
	n := h.Timed
	for _, at := range h.At {
		n += at
	}
	return n
}
