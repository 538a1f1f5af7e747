package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// Status is what has become of a request.
type Status string

// A request is queued, then in progress, then one of the other three, which
// are final. One in progress whose process died is queued again by whoever
// holds the workspace's lock next.
const (
	Queued     Status = "queued"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
	Canceled   Status = "canceled"
)

// Final reports whether the status never changes again.
func (s Status) Final() bool { return s == Completed || s == Failed || s == Canceled }

func (s Status) known() bool { return s == Queued || s == InProgress || s.Final() }

// ErrStatus is returned for a change of status that no request makes, such as
// from a final one.
var ErrStatus = errors.New("request cannot change so")

// Request is one entry of a mission's queue. Sequence orders the queue and
// names the request; it is never used again. The payload and the result are
// the caller's JSON.
type Request struct {
	Sequence int64           `json:"sequence"`
	Status   Status          `json:"status"`
	Queued   time.Time       `json:"queued_at"`
	Changed  time.Time       `json:"changed_at"`
	Payload  json.RawMessage `json:"payload,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
}

// Enqueue adds a request to the end of the mission's queue. It survives the
// process, not a power cut.
func (j *Journal) Enqueue(mission string, payload json.RawMessage) (Request, error) {
	return j.enqueue(mission, Queued, payload)
}

// EnqueueBegun is Enqueue for a request that is in progress at once.
func (j *Journal) EnqueueBegun(mission string, payload json.RawMessage) (Request, error) {
	return j.enqueue(mission, InProgress, payload)
}

func (j *Journal) enqueue(mission string, status Status, payload json.RawMessage) (Request, error) {
	var request Request
	err := j.changeQueue(mission, func(q *queue) error {
		// The time makes a number that was never used; what is there keeps
		// the order if the clock stands or goes back.
		now := j.now()
		sequence := max(now.UnixNano(), q.last+1)
		request = Request{Sequence: sequence, Status: status, Queued: now, Changed: now, Payload: payload}
		return q.add(request)
	})
	return request, err
}

// Next takes the oldest queued request and sets it in progress; ok is false
// if none is queued. Two callers never get the same one.
func (j *Journal) Next(mission string) (request Request, ok bool, err error) {
	err = j.changeQueue(mission, func(q *queue) error {
		for _, candidate := range q.requests {
			if candidate.Status == Queued {
				ok = true
				request, err = q.set(candidate, InProgress, j.now(), nil)
				return err
			}
		}
		return nil
	})
	return request, ok && err == nil, err
}

// SetStatus changes the status of a request and stores a result with it, if
// not nil. A change that no request makes is ErrStatus, an unknown request
// fs.ErrNotExist.
func (j *Journal) SetStatus(mission string, sequence int64, status Status, result json.RawMessage) (Request, error) {
	var request Request
	err := j.changeQueue(mission, func(q *queue) error {
		found, err := q.find(sequence)
		if err != nil {
			return err
		}
		if found.Status.Final() || !status.known() || found.Status == status {
			return fmt.Errorf("request %d: %s to %s: %w", sequence, found.Status, status, ErrStatus)
		}
		request, err = q.set(found, status, j.now(), result)
		return err
	})
	return request, err
}

// Forget removes a request whose status is final from the queue; one that is
// not there is no error.
func (j *Journal) Forget(mission string, sequence int64) error {
	return j.finish(mission, sequence, "")
}

// Finish is SetStatus with a final status and then Forget, in one step: what
// was waited for has been told.
func (j *Journal) Finish(mission string, sequence int64, status Status) error {
	if !status.Final() {
		return fmt.Errorf("finish request %d, %s: %w", sequence, status, ErrStatus)
	}
	return j.finish(mission, sequence, status)
}

func (j *Journal) finish(mission string, sequence int64, status Status) error {
	return j.changeQueue(mission, func(q *queue) error {
		found, err := q.find(sequence)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !found.Status.Final() && !status.Final() {
			return fmt.Errorf("forget request %d, %s: %w", sequence, found.Status, ErrStatus)
		}
		return q.forget(sequence)
	})
}

// Requests returns a mission's requests, the oldest first. Lines of the queue
// that cannot be read, which a power cut leaves, are counted in damaged (else
// nil) until the queue is next written anew. It waits for no one.
func (j *Journal) Requests(mission string) (requests []Request, damaged *DamagedError, err error) {
	log, err := j.queueLog(mission)
	if err != nil {
		return nil, nil, err
	}
	q, err := readQueue(log)
	if err != nil {
		return nil, nil, err
	}
	if q.bad > 0 {
		damaged = &DamagedError{Path: log.path, Err: fmt.Errorf("%d broken lines", q.bad)}
	}
	return q.requests, damaged, nil
}

// DropQueue removes a mission's whole queue, whatever is in it; that it has
// none is no error.
func (j *Journal) DropQueue(mission string) error {
	log, err := j.queueLog(mission)
	if err != nil {
		return err
	}
	return log.remove()
}

// QueuedMissions returns the ids of the missions that have a queue, sorted.
func (j *Journal) QueuedMissions() ([]string, error) {
	return uuidNames(filepath.Join(j.dir, requestsDir), logSuffix)
}
