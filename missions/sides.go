package missions

import (
	"fmt"
	"io"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/sessions"
)

// knownSides are files beside sessions, by their path, as they were when they were read
// last. Records name them alike in each session, so that only its content tells whether
// a record holds one: sessions come and go, and what was read need not have been kept.
type knownSides map[string]knownSide

type knownSide struct {
	stamp fileStamp
	id    gitstore.ID // of its content
}

// at is the content of a file with a stamp, zero if it is to be read.
func (k knownSides) at(path string, stamp fileStamp) gitstore.ID {
	if known := k[path]; known.stamp == stamp && stamp != (fileStamp{}) {
		return known.id
	}
	return gitstore.ID{}
}

// learn notes what was read of a file after it had a stamp, which was after now, unless
// it may have changed since without having another.
func (k knownSides) learn(path string, stamp fileStamp, id gitstore.ID, now time.Time) {
	if stamp.settled(now) {
		k[path] = knownSide{stamp, id}
	}
}

// sidesNow are the files beside the mission's session as they are on disk.
func (m *loaded) sidesNow(a sessions.Adapter) ([]sessions.Side, error) {
	if s, ok := a.(sessions.Sided); ok {
		return s.Sides(m.adapterEnv(), m.session())
	}
	return nil, nil
}

// putSides brings what a record holds beside a session up to what is there now.
func (l *Local) putSides(t *gitstore.RecordTree, a sessions.Adapter, m *loaded, ws *workspace, batch *gitstore.Batch) error {
	list, err := m.sidesNow(a)
	if err != nil {
		return fmt.Errorf("session of %s: %w", m.Name, err)
	}
	now := l.now()
	stamps, sides := make([]fileStamp, len(list)), make([]gitstore.SideFile, len(list))
	for i, side := range list {
		stamps[i] = stampOf(side.Path)
		sides[i] = gitstore.SideFile{
			Name: side.Name, Executable: executable(side), Known: ws.sides.at(side.Path, stamps[i]),
			Open: func() (io.ReadCloser, int64, error) { return openSized(side.Path) },
		}
	}
	ids, err := t.SetSides(batch, sides)
	if err != nil {
		return fmt.Errorf("session of %s: %w", m.Name, err)
	}
	for i, id := range ids {
		ws.sides.learn(list[i].Path, stamps[i], id, now)
	}
	return nil
}

// sidesRecorded reports whether the newest snapshot holds what is beside the session
// now. What is gone since is no reason for another one, which would not hold it: the
// conversation may begin in it.
func (l *Local) sidesRecorded(m *loaded, a sessions.Adapter, ws *workspace) (bool, error) {
	list, err := m.sidesNow(a)
	if err != nil {
		return false, err
	}
	stored, err := m.project.store.SessionSides(m.tip.Record)
	if err != nil {
		return false, err
	}
	recorded := map[gitstore.StoredSide]bool{}
	for _, side := range stored {
		recorded[side] = true
	}
	for _, side := range list {
		id, err := l.readSide(side, ws)
		if err != nil || !recorded[gitstore.StoredSide{Name: side.Name, ID: id, Executable: executable(side)}] {
			return false, err
		}
	}
	return true, nil
}

// readSide is the id of what a file beside a session holds.
func (l *Local) readSide(side sessions.Side, ws *workspace) (gitstore.ID, error) {
	now, stamp := l.now(), stampOf(side.Path)
	if id := ws.sides.at(side.Path, stamp); !id.IsZero() {
		return id, nil
	}
	r, size, err := openSized(side.Path)
	if err != nil {
		return gitstore.ID{}, err
	}
	defer r.Close()
	id, err := gitstore.HashBlob(io.LimitReader(r, size), size)
	if err == nil {
		ws.sides.learn(side.Path, stamp, id, now)
	}
	return id, err
}

func executable(side sessions.Side) bool { return side.Mode&0o100 != 0 }

func openSized(path string) (io.ReadCloser, int64, error) {
	f, info, err := disk.OpenRegular(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}
