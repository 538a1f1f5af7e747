package missions

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// queue orders what is asked of one mission in this process: one thing at a
// time, and requests that wait may be answered by one snapshot. Other processes
// are kept apart by the workspace lock.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	working bool
}

// request is an event of a mission's agent, or a snapshot asked for by hand.
type request struct {
	event Event                       // nil: by hand
	heard func(*loaded) (bool, error) // run first, under the lock; false drops the event
	take  *Take                       // by hand
	ids   []string                    // of what asked for it, where it may ask again
	asked bool                        // it did, and may have been answered
	seq   int64                       // its entry in the journal, 0 for none
	begun bool                        // the entry says that it is in progress
	// seen is the mission as whoever asks has read it a moment ago, nil if it is
	// to be read. It only says where to look: what is done is done to the mission
	// as it is under the lock.
	seen   *loaded
	done   chan struct{}
	answer answer
	err    error
}

// answer is what became of a request.
type answer struct {
	taken   []taken
	mission *loaded
}

// last is the snapshot that answers the request, if it asked for any.
func (a answer) last() (taken, bool) {
	if len(a.taken) == 0 {
		return taken{}, false
	}
	return a.taken[len(a.taken)-1], true
}

// taken is a snapshot that was made, or the one that nothing differs from.
type taken struct {
	snapshot  *gitstore.Snapshot
	unchanged bool
}

func (l *Local) queueOf(mission string) *queue {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[mission]
	if q == nil {
		q = &queue{}
		l.queues[mission] = q
	}
	return q
}

// submit waits until the request has been carried out, alone or together with
// others. If ctx ends first, the request still is.
func (l *Local) submit(ctx context.Context, p *project, mission string, r *request) (answer, error) {
	r.done = make(chan struct{})
	told, gone := make(chan Notice), make(chan struct{})
	defer close(gone)
	q := l.queueOf(mission)
	r.seq, r.begun = l.enqueue(mission, q, r)
	q.mu.Lock()
	start := !q.working
	if start && !l.startWorker() {
		q.mu.Unlock()
		return answer{}, errClosing
	}
	if !start {
		r.seen = nil // who knows when its turn comes
	}
	q.working = true
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	if start {
		// The work outlives the caller: others may have joined it. What it tells
		// reaches the caller on the caller's own goroutine, while that waits.
		work := WithNotify(context.WithoutCancel(ctx), func(n Notice) {
			select {
			case told <- n:
			case <-gone:
			}
		})
		go l.work(work, p, mission, q)
	}
	for {
		select {
		case n := <-told:
			Notify(ctx, n)
		case <-r.done:
			return r.answer, r.err
		case <-ctx.Done():
			return answer{}, l.outOfTime(ctx, p, mission)
		}
	}
}

// work carries out what waits, in order, until nothing does.
func (l *Local) work(ctx context.Context, p *project, mission string, q *queue) {
	defer l.working.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.closing, cancel)()
	for {
		q.mu.Lock()
		batch := q.waiting
		q.waiting = nil
		if len(batch) == 0 {
			q.working = false
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		for _, r := range batch {
			l.begin(mission, r)
		}
		l.carryOut(ctx, p, mission, batch)
		for _, r := range batch {
			if r.err == nil || ctx.Err() == nil {
				l.dequeue(mission, r)
			}
			close(r.done)
		}
	}
}

// queued is a request in the journal.
type queued struct {
	Trigger Trigger    `json:"trigger,omitempty"`
	What    string     `json:"what,omitempty"`
	IDs     []string   `json:"ids,omitempty"`
	Owner   lock.Owner `json:"owner"` // the process that is to answer it
}

// enqueue notes a request for a snapshot in the journal, so that one whose
// process dies is made up for. It is not fsynced: a power cut may lose a
// request, never a snapshot. It reports whether the entry says already that the
// request is in progress, as one with no other before it is in a moment.
func (l *Local) enqueue(mission string, q *queue, r *request) (sequence int64, begun bool) {
	var doc queued
	switch {
	case r.take == nil && r.event == nil:
		return 0, false
	case r.take != nil:
		doc = queued{Trigger: r.take.Trigger, What: r.take.What, IDs: r.ids, Owner: l.self}
	case r.event != nil:
		take, asks := asksFor(r.event)
		if !asks {
			return 0, false
		}
		doc = queued{Trigger: take.Trigger, What: take.What, Owner: l.self}
	}
	p, err := json.Marshal(doc)
	if err != nil {
		return 0, false
	}
	note := l.journal.EnqueueBegun
	if q.busy() {
		note = l.journal.Enqueue
	}
	entry, err := note(mission, p)
	if err != nil {
		l.log.Warn("note a request", "mission", mission, "error", err)
		return 0, false
	}
	return entry.Sequence, entry.Status == journal.InProgress
}

func (q *queue) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.working
}

// begin marks a request as being carried out.
func (l *Local) begin(mission string, r *request) {
	if r.seq == 0 || r.begun {
		return
	}
	if _, err := l.journal.SetStatus(mission, r.seq, journal.InProgress, nil); err != nil {
		l.log.Warn("note a request's status", "mission", mission, "error", err)
	}
}

// dequeue takes an answered request out of the journal.
func (l *Local) dequeue(mission string, r *request) {
	if r.seq == 0 {
		return
	}
	status := journal.Completed
	if r.err != nil {
		status = journal.Failed
	}
	if err := l.journal.Finish(mission, r.seq, status); err != nil {
		l.log.Warn("forget a request", "mission", mission, "error", err)
	}
}

// asksFor is the snapshot that an event would ask for at least, whatever the
// lifecycle it meets.
func asksFor(e Event) (Take, bool) {
	_, effects := Transition(Running{}, e)
	for _, effect := range effects {
		if take, ok := effect.(Take); ok {
			return take, true
		}
	}
	return Take{}, false
}

// joins reports whether two requests can be one snapshot: their states are the
// same, and at most one of them is a change of state.
func joins(a, b Take) bool {
	if State(a.Of) != State(b.Of) || a.Of.LastTurn() != b.Of.LastTurn() || a.Late != b.Late {
		return false
	}
	if a.Named && b.Named && a.What != b.What {
		return false // two messages of the user's are two snapshots
	}
	return !a.changesState() || !b.changesState() || a.Trigger == b.Trigger
}

func (t Take) changesState() bool {
	switch t.Trigger {
	case TriggerTool, TriggerManual, TriggerWatch:
		return false
	}
	return true
}

// filesOnly reports whether a request is about files alone: that only the
// conversation went on answers it with the snapshot there is.
func (t Take) filesOnly() bool { return t.Trigger == TriggerTool || t.Trigger == TriggerWatch }
