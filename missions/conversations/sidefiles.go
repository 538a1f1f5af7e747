package conversations

import (
	"io"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// SideFileCache are files beside sessions, by their path, as they were when they were read
// last. Records name them alike in each session, so that only its content tells whether
// a record holds one: sessions come and go, and what was read need not have been kept.
type SideFileCache map[string]cachedSideFile

type cachedSideFile struct {
	stamp home.FileStamp
	id    gitstore.ID // of its content
}

// ContentID is the content of a file with a stamp, zero if it is to be read.
func (k SideFileCache) ContentID(path string, stamp home.FileStamp) gitstore.ID {
	if known := k[path]; known.stamp == stamp && stamp != (home.FileStamp{}) {
		return known.id
	}
	return gitstore.ID{}
}

// Remember notes what was read of a file after it had a stamp, which was after now, unless
// it may have changed since without having another.
func (k SideFileCache) Remember(path string, stamp home.FileStamp, id gitstore.ID, now time.Time) {
	if stamp.IsSettled(now) {
		k[path] = cachedSideFile{stamp, id}
	}
}

// SidesNow are the files beside the mission's session as they are on disk.
func SidesNow(m *projects.Mission, a sessions.Adapter) ([]sessions.Side, error) {
	if s, ok := a.(sessions.Sided); ok {
		return s.Sides(m.AdapterEnv(), adapterSession(m))
	}
	return nil, nil
}

func IsExecutable(side sessions.Side) bool { return side.Mode&0o100 != 0 }

func OpenWithSize(path string) (io.ReadCloser, int64, error) {
	f, info, err := disk.OpenRegular(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}
