package bisect

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// question is what a search is for.
type question struct {
	Command string        `json:"command"`
	Good    string        `json:"good"` // the snapshots
	Bad     string        `json:"bad"`
	Invert  bool          `json:"inverted,omitempty"`
	Timeout time.Duration `json:"timeout,omitempty"`
}

// event is a line of a journal: what is asked, a workspace that is about to be made, what the
// command said of a snapshot, or the number of a round that is over.
type event struct {
	Question *question       `json:"question,omitempty"`
	Scratch  string          `json:"scratch,omitempty"`
	Snapshot string          `json:"snapshot,omitempty"`
	Check    *missions.Check `json:"check,omitempty"`
	Round    int             `json:"round,omitempty"`
}

// journal keeps how far a search has come, for when it is stopped. Its file is locked while
// the search runs.
type journal struct {
	file      *os.File
	mu        sync.Mutex
	verdicts  map[string]missions.Check // by snapshot
	scratches []string                  // the workspaces that may have been left
	rounds    int                       // that are over
}

// openJournal reads the journal of a mission. What another search has found does not count.
func openJournal(name string, asked question) (*journal, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, verdicts: map[string]missions.Check{}}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		busy := missions.Errorf(missions.KindBusy, "wait until it has ended", "umbra bisect runs for this mission")
		return nil, errors.Join(busy, file.Close())
	}
	var last question
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e event
		if json.Unmarshal(bytes.TrimSpace(lines.Bytes()), &e) != nil {
			continue // the process was killed while it wrote that
		}
		switch {
		case e.Question != nil:
			last = *e.Question
			clear(j.verdicts)
			j.rounds = 0
		case e.Scratch != "":
			j.scratches = append(j.scratches, e.Scratch)
		case e.Check != nil && last == asked:
			j.verdicts[e.Snapshot] = *e.Check
		case e.Round > 0 && last == asked:
			j.rounds = e.Round
		}
	}
	if last != asked {
		clear(j.verdicts)
		err = j.add(event{Question: &asked})
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

// add appends a line. A torn one before it ends there.
func (j *journal) add(e event) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if e.Check != nil {
		j.verdicts[e.Snapshot] = *e.Check
	}
	_, err = j.file.Write(append(append([]byte("\n"), text...), '\n'))
	return err
}

// close ends it. Of a search that is over nothing is kept.
func (j *journal) close(over bool) error {
	var err error
	if over {
		err = os.Remove(j.file.Name())
	}
	return errors.Join(err, j.file.Close())
}
