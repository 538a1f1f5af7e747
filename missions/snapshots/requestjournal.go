package snapshots

import (
	"encoding/json"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// JournaledRequest is a request in the journal.
type JournaledRequest struct {
	Trigger missions.Trigger `json:"trigger,omitempty"`
	What    string           `json:"what,omitempty"`
	IDs     []string         `json:"ids,omitempty"`
	Owner   lock.Owner       `json:"owner"` // the process that is to answer it
}

// journalRequest notes a request for a snapshot in the journal, so that another process
// takes the snapshot if this one dies. The note is not fsynced: a power cut may lose a
// request, never a snapshot. begun says that the note calls the request in progress
// already, since no other request is before it.
func (qs *requestQueues) journalRequest(mission string, q *requestQueue, r *Request) (sequence int64, begun bool) {
	var doc JournaledRequest
	switch {
	case r.Take == nil && r.Event == nil:
		return 0, false
	case r.Take != nil:
		doc = JournaledRequest{Trigger: r.Take.Trigger, What: r.Take.Message, IDs: r.Ids, Owner: qs.Self}
	case r.Event != nil:
		take, asks := takeAskedBy(r.Event)
		if !asks {
			return 0, false
		}
		doc = JournaledRequest{Trigger: take.Trigger, What: take.Message, Owner: qs.Self}
	}
	p, err := json.Marshal(doc)
	if err != nil {
		return 0, false
	}
	note := qs.Journal.EnqueueBegun
	if q.IsBusy() {
		note = qs.Journal.Enqueue
	}
	entry, err := note(mission, p)
	if err != nil {
		qs.Logger.Warn("note a request", "mission", mission, "error", err)
		return 0, false
	}
	return entry.Sequence, entry.Status == journal.InProgress
}

// markRequestInProgress marks a request as being carried out.
func (qs *requestQueues) markRequestInProgress(mission string, r *Request) {
	if r.journalEntry == 0 || r.inProgress {
		return
	}
	if _, err := qs.Journal.SetStatus(mission, r.journalEntry, journal.InProgress, nil); err != nil {
		qs.Logger.Warn("note a request's status", "mission", mission, "error", err)
	}
}

// finishRequest takes an answered request out of the journal.
func (qs *requestQueues) finishRequest(mission string, r *Request) {
	if r.journalEntry == 0 {
		return
	}
	status := journal.Completed
	if r.Err != nil {
		status = journal.Failed
	}
	if err := qs.Journal.Finish(mission, r.journalEntry, status); err != nil {
		qs.Logger.Warn("forget a request", "mission", mission, "error", err)
	}
}

// takeAskedBy is the snapshot that an event asks for in any lifecycle.
func takeAskedBy(e missions.Event) (missions.TakeSnapshot, bool) {
	_, effects := missions.Transition(missions.Running{}, e)
	for _, effect := range effects {
		if take, ok := effect.(missions.TakeSnapshot); ok {
			return take, true
		}
	}
	return missions.TakeSnapshot{}, false
}
