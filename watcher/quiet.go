package watcher

import "time"

// touch counts an event: the tree is busy until it was without one for Settle,
// or MaxWait has passed since the first.
func (t *Tree) touch() {
	if t.closed {
		return
	}
	t.last = t.w.opts.Clock.Now()
	if t.first.IsZero() {
		t.first = t.last
		t.busy.Store(true)
		signal(t.stirs)
		t.w.alarm.set(t.due())
	}
}

// due is when the tree is quiet if nothing more happens.
func (t *Tree) due() time.Time {
	settled, late := t.last.Add(t.w.opts.Settle), t.first.Add(t.w.opts.MaxWait)
	if late.Before(settled) {
		return late
	}
	return settled
}

func (t *Tree) checkQuiet(now time.Time) {
	if t.first.IsZero() {
		return
	}
	if due := t.due(); now.Before(due) {
		t.w.alarm.set(due)
		return
	}
	t.first, t.last = time.Time{}, time.Time{}
	t.busy.Store(false)
	signal(t.quiet)
}

// signal leaves a value for whoever receives next.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
