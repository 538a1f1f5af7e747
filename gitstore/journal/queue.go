package journal

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/uuid"
)

// longestQueue is the length at which a queue's log is written anew, and
// longestDrained that of one in which no request is left: each change reads it all.
const longestQueue, longestDrained = 16 << 10, 1 << 10

// queueLine is one change of a queue: a new request, a new status, or a
// request forgotten. Last alone keeps the last sequence when a log is written
// anew.
type queueLine struct {
	Add    *Request   `json:"add,omitempty"`
	Set    *setStatus `json:"set,omitempty"`
	Forget int64      `json:"forget,omitempty"`
	Last   int64      `json:"last,omitempty"`
}

type setStatus struct {
	Sequence int64           `json:"sequence"`
	Status   Status          `json:"status"`
	Changed  time.Time       `json:"changed_at"`
	Result   json.RawMessage `json:"result,omitempty"`
}

// queue is a mission's requests as the lines of its log make them.
type queue struct {
	log      lineLog
	file     *os.File
	requests []Request
	last     int64
	bad      int
}

func (j *Journal) queueLog(mission string) (lineLog, error) {
	if !uuid.Is(mission) {
		return lineLog{}, fmt.Errorf("mission %q: %w", mission, ErrBadID)
	}
	return lineLog{base: filepath.Dir(j.dir), path: filepath.Join(j.dir, requestsDir, mission+logSuffix), patience: j.patience}, nil
}

func (j *Journal) changeQueue(mission string, change func(q *queue) error) error {
	log, err := j.queueLog(mission)
	if err != nil {
		return err
	}
	err = log.locked(func(file *os.File) error {
		q, err := readQueue(log)
		if err != nil {
			return err
		}
		q.file = file
		if err := change(q); err != nil {
			return err
		}
		return q.shorten()
	})
	if err != nil {
		return fmt.Errorf("requests of %s: %w", mission, err)
	}
	return nil
}

func readQueue(log lineLog) (*queue, error) {
	lines, bad, err := log.read()
	if err != nil {
		return nil, err
	}
	q := &queue{log: log, bad: bad}
	for _, text := range lines {
		var line queueLine
		if json.Unmarshal(text, &line) != nil || !q.apply(line) {
			q.bad++
		}
	}
	return q, nil
}

// apply reports whether the line fits what is before it.
func (q *queue) apply(line queueLine) bool {
	switch {
	case line.Add != nil:
		if line.Add.Sequence <= q.last && q.index(line.Add.Sequence) >= 0 || !line.Add.Status.known() {
			return false
		}
		q.requests = append(q.requests, *line.Add)
		q.last = max(q.last, line.Add.Sequence)
	case line.Set != nil:
		at := q.index(line.Set.Sequence)
		if at < 0 || !line.Set.Status.known() {
			return false
		}
		r := &q.requests[at]
		r.Status, r.Changed = line.Set.Status, line.Set.Changed
		if line.Set.Result != nil {
			r.Result = line.Set.Result
		}
	case line.Forget != 0:
		at := q.index(line.Forget)
		if at < 0 {
			return false
		}
		q.requests = slices.Delete(q.requests, at, at+1)
	default:
		q.last = max(q.last, line.Last)
	}
	return true
}

func (q *queue) index(sequence int64) int {
	return slices.IndexFunc(q.requests, func(r Request) bool { return r.Sequence == sequence })
}

func (q *queue) find(sequence int64) (Request, error) {
	at := q.index(sequence)
	if at < 0 {
		return Request{}, fmt.Errorf("request %d: %w", sequence, fs.ErrNotExist)
	}
	return q.requests[at], nil
}

func (q *queue) add(request Request) error { return q.write(queueLine{Add: &request}) }

func (q *queue) forget(sequence int64) error { return q.write(queueLine{Forget: sequence}) }

func (q *queue) set(request Request, status Status, now time.Time, result json.RawMessage) (Request, error) {
	line := queueLine{Set: &setStatus{Sequence: request.Sequence, Status: status, Changed: now, Result: result}}
	if err := q.write(line); err != nil {
		return Request{}, err
	}
	return q.find(request.Sequence)
}

func (q *queue) write(line queueLine) error {
	if err := appendTo(q.file, line); err != nil {
		return err
	}
	q.apply(line)
	return nil
}

// shorten writes the log anew when most of it is past.
func (q *queue) shorten() error {
	if len(q.requests) == 0 && longerThan(q.file, longestDrained) {
		// Nothing is lost if this is cut short: the sequence then comes from
		// the clock alone.
		if err := q.file.Truncate(0); err != nil {
			return err
		}
		return appendTo(q.file, queueLine{Last: q.last})
	}
	if !longerThan(q.file, longestQueue+4*q.size()) {
		return nil
	}
	lines := []any{queueLine{Last: q.last}}
	for i := range q.requests {
		lines = append(lines, queueLine{Add: &q.requests[i]})
	}
	return q.log.rewrite(lines)
}

func (q *queue) size() int64 {
	const apart = 256 // what a request takes without payload and result, at most
	total := 0
	for _, r := range q.requests {
		total += apart + len(r.Payload) + len(r.Result)
	}
	return int64(total)
}
