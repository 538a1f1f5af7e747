package snapshots

import (
	"context"
	"sync"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// requestQueue orders what is asked of one mission in this process: one thing at a
// time. Requests that wait may be answered by one snapshot. The workspace lock keeps
// other processes apart.
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
	Ids          []string                              // of the caller's request, if the caller may repeat it
	isRepeat     bool                                  // the caller repeats it: it may have been answered
	journalEntry int64                                 // its entry in the journal, 0 for none
	inProgress   bool                                  // the entry says that it is in progress
	// RecentMission is the mission as the caller has read it a moment ago, nil if it is to
	// be read. It only says where to look: the request is carried out on the mission as it
	// is under the lock.
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

// requestQueues are the queues of all missions.
type requestQueues struct {
	*projects.Desk
	mu        sync.Mutex
	byMission map[string]*requestQueue
}

func newRequestQueues(d *projects.Desk) *requestQueues {
	return &requestQueues{Desk: d, byMission: map[string]*requestQueue{}}
}

// MissionQueue is the queue of one mission.
func (qs *requestQueues) MissionQueue(mission string) *requestQueue {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.byMission[mission]
	if q == nil {
		q = &requestQueue{}
		qs.byMission[mission] = q
	}
	return q
}

// SubmitRequest waits until the request has been carried out, alone or together with
// others. It is carried out also if ctx ends first.
func (tk *Taker) SubmitRequest(ctx context.Context, p *projects.Project, mission string, r *Request) (answer, error) {
	r.Done = make(chan struct{})
	notices, callerGone := make(chan missions.Notice), make(chan struct{})
	defer close(callerGone)
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
		// The work outlives the caller, since other requests may have joined it. Notices
		// reach the caller on the caller's own goroutine, while the caller waits.
		work := missions.WithNotify(context.WithoutCancel(ctx), func(n missions.Notice) {
			select {
			case notices <- n:
			case <-callerGone:
			}
		})
		go tk.runQueue(work, p, mission, q)
	}
	for {
		select {
		case n := <-notices:
			missions.Notify(ctx, n)
		case <-r.Done:
			return r.Answer, r.Err
		case <-ctx.Done():
			return answer{}, tk.TimeoutError(ctx, p, mission)
		}
	}
}

// runQueue carries out what waits, in order, until nothing waits.
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

// IsBusy reports whether a request is being carried out.
func (q *requestQueue) IsBusy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.working
}
