package conversations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
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
	recorded, err := records.OpenSession(m.Project.Store, m.Record)
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

// adapterSession is the mission's, for its adapter.
func adapterSession(m *projects.Mission) sessions.Session {
	return sessions.Session{ID: m.Stored.Session, Path: m.Binding.SessionPath, Cwd: m.Cwd()}
}

// SwitchSession makes another session the mission's own.
func SwitchSession(m *projects.Mission, id, path string) {
	if m.Stored.Session != "" && m.Stored.Session != id {
		m.FormerSessions = append(m.FormerSessions, m.Stored.Session)
	}
	kept := m.FormerSessions[:0]
	for _, s := range m.FormerSessions {
		if s != id {
			kept = append(kept, s)
		}
	}
	m.FormerSessions = kept
	m.Stored.Session, m.Binding.SessionPath, m.Live.BoundSession = id, path, ""
}

// SessionState is what a snapshot says of its conversation.
type SessionState struct {
	Events    int // complete lines
	Partial   bool
	OpenTools []sessions.Tool
	Meta      records.SessionMeta // what is recorded of the file; zero where there is none
}

// FindSessionFile looks for a session's file that is not where it was expected: some
// agents name a new one by the time, and without hooks nobody tells its name. What a
// hook has told stays while nothing else is there: the file comes after the prompt.
// Of a session that goes on in another file, hooks tell with the next prompt alone.
func FindSessionFile(m *projects.Mission, a sessions.Adapter) {
	if of, ok := a.(sessions.Segmented); ok && m.Binding.SessionPath != "" {
		m.Binding.SessionPath = of.Current(m.AdapterEnv(), m.Binding.SessionPath)
		return
	}
	if _, err := os.Stat(m.Binding.SessionPath); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	path := a.Path(m.AdapterEnv(), projects.ResolveLinks(m.Cwd()), m.Stored.Session)
	if _, err := os.Stat(path); err == nil {
		m.Binding.SessionPath = path
	}
}

// SkipUnreadSession goes on without the conversation: the user's files matter more.
// What was recorded of it stays, and the snapshot is marked as partial.
func (l *Library) SkipUnreadSession(t *records.Tree, m *projects.Mission, why error) (SessionState, error) {
	m.Live.Problem = fmt.Sprintf("the session of %s can't be read, its snapshots are without the conversation: %v", m.Name, userfile.Reason(why))
	l.Logger.Warn("read a session", "mission", m.ID, "error", why)
	state, err := l.KeepMissingSession(t, m)
	state.Partial = true
	return state, err
}

// KeepMissingSession keeps what the record holds of a session whose file is gone:
// it can be made again from there.
func (l *Library) KeepMissingSession(t *records.Tree, m *projects.Mission) (SessionState, error) {
	meta, err := t.SessionMeta()
	if errors.Is(err, gitstore.ErrNoEntry) {
		return SessionState{}, nil
	}
	if err != nil {
		return SessionState{}, err
	}
	if meta.SessionID != m.Stored.Session {
		return SessionState{}, t.RemoveSession()
	}
	return SessionState{Events: lastEventCount(m), Partial: true}, nil
}

// lastEventCount is the count in the newest snapshot.
func lastEventCount(m *projects.Mission) int {
	if m.Tip == nil {
		return 0
	}
	info, err := m.Project.ReadSnapshotInfo(m.Tip)
	if err != nil {
		return 0
	}
	return info.Events
}

// CountEvents counts the complete lines of a session: of what was appended, if
// the rest was counted before, be it when it was written.
func (l *Library) CountEvents(m *projects.Mission, file *os.File, before, now records.SessionMeta) (int, error) {
	from, count := int64(0), lineCounter(0)
	if before.SessionID == now.SessionID && before.Generation == now.Generation && m.Tip != nil && m.Record == m.Tip.Record {
		from, count = before.Length-before.Torn, lineCounter(lastEventCount(m))
	} else if in := now.Inherited; in != nil {
		from, count = in.Length, lineCounter(in.Lines)
	} else if earlier, err := l.countEarlierLines(m); err != nil {
		return 0, fmt.Errorf("session of %s: %w", m.Name, err)
	} else {
		count = earlier
	}
	if _, err := io.Copy(&count, io.NewSectionReader(file, from, now.Length-now.Torn-from)); err != nil {
		return 0, fmt.Errorf("session of %s: %w", m.Name, err)
	}
	return int(count), nil
}

// lineCounter counts the complete lines that are written to it.
type lineCounter int

func (c *lineCounter) Write(p []byte) (int, error) {
	*c += lineCounter(bytes.Count(p, []byte{'\n'}))
	return len(p), nil
}
