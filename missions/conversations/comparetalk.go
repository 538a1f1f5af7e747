package conversations

import (
	"context"
	"errors"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// SessionFileMatches reports whether the session's file still holds, from its beginning,
// what the newest record does. A file that was compared is not read again until
// it changes.
func (l *Library) SessionFileMatches(ctx context.Context, m *projects.Mission) (bool, error) {
	if m.Binding.SessionPath == "" || m.Record.IsZero() || m.Live.ProvisionalSnapshot != "" {
		return true, nil
	}
	stamp := home.StampOf(m.Binding.SessionPath)
	if stamp == (home.FileStamp{}) || l.MissionCache.ComparedStamp(m.ID) == stamp {
		return true, nil
	}
	recorded, err := m.Project.Store.OpenSession(m.Record)
	if errors.Is(err, gitstore.ErrNoEntry) || err == nil && recorded.Meta.SessionID != m.Stored.Session {
		return true, nil // the next snapshot reads all of it
	}
	if err != nil {
		return false, err
	}
	file, info, err := disk.OpenRegular(m.Binding.SessionPath)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	same, err := recorded.HeldBy(ctx, file, info.Size())
	if same && stamp.IsSettled(l.Now()) {
		l.MissionCache.RememberComparison(m.ID, stamp)
	}
	return same, err
}
