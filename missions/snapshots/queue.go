package snapshots

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// requestQueue orders what is asked of one mission in this process: one thing at a
// time, and requests that wait may be answered by one snapshot. Other processes
// are kept apart by the workspace lock.
type requestQueue struct {
	mu      sync.Mutex
	waiting []*Request
	working bool
}

// Request is an event of a mission's agent, or a snapshot asked for by hand.
type Request struct {
	Event        missions.Event                        // nil: by hand
	Prepare      func(*projects.Mission) (bool, error) // run first, under the lock; false drops the event
	Take         *missions.TakeSnapshot                // by hand
	Ids          []string                              // of what asked for it, where it may ask again
	isRepeat     bool                                  // it did, and may have been answered
	journalEntry int64                                 // its entry in the journal, 0 for none
	inProgress   bool                                  // the entry says that it is in progress
	// RecentMission is the mission as whoever asks has read it a moment ago, nil if it is
	// to be read. It only says where to look: what is done is done to the mission
	// as it is under the lock.
	RecentMission *projects.Mission
	Done          chan struct{}
	Answer        answer
	Err           error
}

// answer is what became of a request.
type answer struct {
	taken   []takenSnapshot
	Mission *projects.Mission
}

// LastSnapshot is the snapshot that answers the request, if it asked for any.
func (a answer) LastSnapshot() (takenSnapshot, bool) {
	if len(a.taken) == 0 {
		return takenSnapshot{}, false
	}
	return a.taken[len(a.taken)-1], true
}

// takenSnapshot is a snapshot that was made, or the one that nothing differs from.
type takenSnapshot struct {
	Snapshot    *gitstore.Snapshot
	isUnchanged bool
}

func (tk *Taker) MissionQueue(mission string) *requestQueue {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	q := tk.requestQueues[mission]
	if q == nil {
		q = &requestQueue{}
		tk.requestQueues[mission] = q
	}
	return q
}

// SubmitRequest waits until the request has been carried out, alone or together with
// others. If ctx ends first, the request still is.
func (tk *Taker) SubmitRequest(ctx context.Context, p *projects.Project, mission string, r *Request) (answer, error) {
	r.Done = make(chan struct{})
	told, gone := make(chan missions.Notice), make(chan struct{})
	defer close(gone)
	q := tk.MissionQueue(mission)
	r.journalEntry, r.inProgress = tk.journalRequest(mission, q, r)
	q.mu.Lock()
	start := !q.working
	if start && !tk.StartWorker() {
		q.mu.Unlock()
		return answer{}, projects.ErrClosing
	}
	if !start {
		r.RecentMission = nil // who knows when its turn comes
	}
	q.working = true
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	if start {
		// The work outlives the caller: others may have joined it. What it tells
		// reaches the caller on the caller's own goroutine, while that waits.
		work := missions.WithNotify(context.WithoutCancel(ctx), func(n missions.Notice) {
			select {
			case told <- n:
			case <-gone:
			}
		})
		go tk.runQueue(work, p, mission, q)
	}
	for {
		select {
		case n := <-told:
			missions.Notify(ctx, n)
		case <-r.Done:
			return r.Answer, r.Err
		case <-ctx.Done():
			return answer{}, tk.TimeoutError(ctx, p, mission)
		}
	}
}

// runQueue carries out what waits, in order, until nothing does.
func (tk *Taker) runQueue(ctx context.Context, p *projects.Project, mission string, q *requestQueue) {
	defer tk.Workers.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(tk.Closing, cancel)()
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
			tk.markRequestInProgress(mission, r)
		}
		tk.RunRequests(ctx, p, mission, batch)
		for _, r := range batch {
			if r.Err == nil || ctx.Err() == nil {
				tk.finishRequest(mission, r)
			}
			close(r.Done)
		}
	}
}

// JournaledRequest is a request in the journal.
type JournaledRequest struct {
	Trigger missions.Trigger `json:"trigger,omitempty"`
	What    string           `json:"what,omitempty"`
	IDs     []string         `json:"ids,omitempty"`
	Owner   lock.Owner       `json:"owner"` // the process that is to answer it
}

// journalRequest notes a request for a snapshot in the journal, so that one whose
// process dies is made up for. It is not fsynced: a power cut may lose a
// request, never a snapshot. It reports whether the entry says already that the
// request is in progress, as one with no other before it is in a moment.
func (tk *Taker) journalRequest(mission string, q *requestQueue, r *Request) (sequence int64, begun bool) {
	var doc JournaledRequest
	switch {
	case r.Take == nil && r.Event == nil:
		return 0, false
	case r.Take != nil:
		doc = JournaledRequest{Trigger: r.Take.Trigger, What: r.Take.Message, IDs: r.Ids, Owner: tk.Self}
	case r.Event != nil:
		take, asks := takeAskedBy(r.Event)
		if !asks {
			return 0, false
		}
		doc = JournaledRequest{Trigger: take.Trigger, What: take.Message, Owner: tk.Self}
	}
	p, err := json.Marshal(doc)
	if err != nil {
		return 0, false
	}
	note := tk.Journal.EnqueueBegun
	if q.IsBusy() {
		note = tk.Journal.Enqueue
	}
	entry, err := note(mission, p)
	if err != nil {
		tk.Logger.Warn("note a request", "mission", mission, "error", err)
		return 0, false
	}
	return entry.Sequence, entry.Status == journal.InProgress
}

func (q *requestQueue) IsBusy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.working
}

// markRequestInProgress marks a request as being carried out.
func (tk *Taker) markRequestInProgress(mission string, r *Request) {
	if r.journalEntry == 0 || r.inProgress {
		return
	}
	if _, err := tk.Journal.SetStatus(mission, r.journalEntry, journal.InProgress, nil); err != nil {
		tk.Logger.Warn("note a request's status", "mission", mission, "error", err)
	}
}

// finishRequest takes an answered request out of the journal.
func (tk *Taker) finishRequest(mission string, r *Request) {
	if r.journalEntry == 0 {
		return
	}
	status := journal.Completed
	if r.Err != nil {
		status = journal.Failed
	}
	if err := tk.Journal.Finish(mission, r.journalEntry, status); err != nil {
		tk.Logger.Warn("forget a request", "mission", mission, "error", err)
	}
}

// takeAskedBy is the snapshot that an event would ask for at least, whatever the
// lifecycle it meets.
func takeAskedBy(e missions.Event) (missions.TakeSnapshot, bool) {
	_, effects := missions.Transition(missions.Running{}, e)
	for _, effect := range effects {
		if take, ok := effect.(missions.TakeSnapshot); ok {
			return take, true
		}
	}
	return missions.TakeSnapshot{}, false
}

// canShareSnapshot reports whether two requests can be one snapshot: their states are the
// same, and at most one of them is a change of state.
func canShareSnapshot(a, b missions.TakeSnapshot) bool {
	if missions.StateOf(a.Lifecycle) != missions.StateOf(b.Lifecycle) || a.Lifecycle.LastTurn() != b.Lifecycle.LastTurn() || a.Late != b.Late {
		return false
	}
	if a.UserMessage && b.UserMessage && a.Message != b.Message {
		return false // two messages of the user's are two snapshots
	}
	return !a.ChangesState() || !b.ChangesState() || a.Trigger == b.Trigger
}
