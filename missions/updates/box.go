package updates

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// documentFormat is the version of an update's document.
const documentFormat = 1

// document is an update as it is on disk; docs/format.md describes it. Mission is the
// recipient's id, From the name that the sender had.
type document struct {
	Format int `json:"format"`
	// Round counts how often the update was queued. An update is in two places only where
	// a process was killed between them: then the higher round counts, and of the same
	// round the one that was told.
	Round int `json:"round"`
	missions.Update
	FromTurn int       `json:"from_turn,omitempty"` // of From, when From told it
	GivenAt  time.Time `json:"given_at,omitzero"`   // with the last prompt that carried it
	// Unconfirmed says that the turn of that prompt is not known to be over, and UnseenTurns
	// counts the turns that ended while the conversation did not show it.
	Unconfirmed bool `json:"unconfirmed,omitempty"`
	UnseenTurns int  `json:"unseen_turns,omitempty"`
	// Withdrawn says that it was cleared because what it tells was taken back.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// LookFrom is where in the recipient's conversation the update can stand at the
	// earliest.
	LookFrom conversationOffset `json:"look_from,omitzero"`
}

// conversationOffset is a place in a session's file. In another session it is nothing.
type conversationOffset struct {
	Session string `json:"session,omitempty"`
	Offset  int64  `json:"offset,omitempty"`
}

// box has the updates for one mission.
type box struct {
	project string // its directory
	mission string // the recipient's id
}

func boxOf(m *projects.Mission) box { return box{m.Project.Dir, m.ID} }

func (b box) waitingDir() string {
	return filepath.Join(b.project, projects.UpdatesDir, "waiting", b.mission)
}

func (b box) toldDir() string {
	return filepath.Join(b.project, projects.UpdatesDir, "told", b.mission)
}

// waiting are the updates that wait, the oldest first. Where none was ever queued, it is one
// look whether a directory exists.
func (b box) waiting() ([]document, error) {
	list, err := readDocuments(b.waitingDir())
	if len(list) == 0 {
		return nil, err
	}
	told, unread := b.told()
	list = slices.DeleteFunc(list, func(d document) bool {
		return slices.ContainsFunc(told, func(t document) bool { return t.ID == d.ID && t.Round >= d.Round })
	})
	return list, errors.Join(err, unread)
}

// told are the updates that were delivered or cleared, the oldest first.
func (b box) told() ([]document, error) { return readDocuments(b.toldDir()) }

// readDocuments reads what can be read; the error is of what can't be.
func readDocuments(dir string) (list []document, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, e := range entries {
		id, ours := strings.CutSuffix(e.Name(), ".json")
		if !ours || !missions.IsID(id) {
			continue
		}
		p, err := disk.ReadFile(filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // told or cleared just now
		}
		var d document
		if err == nil {
			err = json.Unmarshal(p, &d)
		}
		if err == nil && (d.Format != documentFormat || d.ID != id) {
			err = fmt.Errorf("format %d, id %q", d.Format, d.ID)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("update %s: %w", id, err))
			continue
		}
		list = append(list, d)
	}
	slices.SortFunc(list, func(x, y document) int {
		if c := x.At.Compare(y.At); c != 0 {
			return c
		}
		return strings.Compare(x.ID, y.ID)
	})
	return list, errors.Join(errs...)
}

// put makes a waiting update durable, as it is now.
func (b box) put(d document) error { return b.write(b.waitingDir(), d) }

func (b box) write(dir string, d document) error {
	d.Format = documentFormat
	p, err := json.MarshalIndent(d, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteBelow(b.project, filepath.Join(dir, d.ID+".json"), 0o600, append(p, '\n'))
}

// retire has an update wait no longer.
func (b box) retire(d document) error {
	if err := b.write(b.toldDir(), d); err != nil {
		return err
	}
	failpoint.Hit("update.told")
	defer failpoint.Hit("update.retired")
	return journal.Remove(filepath.Join(b.waitingDir(), d.ID+".json"))
}

// putBack has an update that was told wait again.
func (b box) putBack(d document) error {
	d.Round++
	if err := b.put(d); err != nil {
		return err
	}
	failpoint.Hit("update.requeued")
	return journal.Remove(filepath.Join(b.toldDir(), d.ID+".json"))
}
