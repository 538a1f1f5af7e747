package conversations

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// TurnTailBytes is how much of a session's end is read first. More is read only if the
// turn began earlier, so the cost follows the turn and not the conversation.
const TurnTailBytes = 256 << 10

// NewestTurn is the newest turn of a session file of that size, and what the file
// shows of it; an empty one if there is none.
func NewestTurn(a sessions.Adapter, path string, size int64) (sessions.State, sessions.Turn, error) {
	f, _, err := disk.OpenRegular(path)
	if err != nil {
		return sessions.StateEmpty, sessions.Turn{}, err
	}
	defer f.Close()
	for tail := int64(TurnTailBytes); ; tail *= 8 {
		from := max(0, size-tail)
		follower := a.Follow()
		p, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
		if err != nil {
			return sessions.StateEmpty, sessions.Turn{}, err
		}
		follower.Feed(p) // a line cut at its start counts as bad
		c := follower.Conversation()
		if n := len(c.Turns); n > 0 {
			return c.State, c.Turns[n-1], nil
		}
		if from == 0 {
			return c.State, sessions.Turn{}, nil
		}
	}
}

// turnCache is what session files were seen to show of their newest turns, by their paths,
// so that one that has not changed is not read again. It is safe for concurrent use.
type turnCache struct {
	mu    sync.Mutex
	turns map[string]sessionTurn
}

// sessionTurn is the newest turn of a session file, and what the file shows of it.
type sessionTurn struct {
	size    int64
	ModTime time.Time
	State   sessions.State
	Turn    sessions.Turn
}

// LastSaidAt is when something was said in it last, as far as the file tells.
func (s sessionTurn) LastSaidAt() time.Time {
	if s.Turn.End.IsZero() {
		return s.ModTime
	}
	return s.Turn.End
}

// maxCachedTurns bounds of how many files it is remembered.
const maxCachedTurns = 64

func newTurnCache() *turnCache { return &turnCache{turns: map[string]sessionTurn{}} }

// readNewestTurn reads the file where it is not as it was; false if it can't be read.
func (n *turnCache) readNewestTurn(a sessions.Adapter, path string) (sessionTurn, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return sessionTurn{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if was, ok := n.turns[path]; ok && was.size == info.Size() && was.ModTime.Equal(info.ModTime()) {
		return was, true
	}
	now := sessionTurn{size: info.Size(), ModTime: info.ModTime()}
	if now.State, now.Turn, err = NewestTurn(a, path, now.size); err != nil {
		return sessionTurn{}, false
	}
	if len(n.turns) >= maxCachedTurns {
		clear(n.turns)
	}
	n.turns[path] = now
	return now, true
}

// NewestSessionTurn is what a mission's session file shows of its newest turn; false where it
// has none that is known.
func (l *Library) NewestSessionTurn(m *projects.Mission) (sessionTurn, bool) {
	a := l.Adapter(m.Agent)
	if a == nil || projects.IsForeignAdapter(a) || m.Binding.SessionPath == "" {
		return sessionTurn{}, false
	}
	return l.turnCache.readNewestTurn(a, m.Binding.SessionPath)
}

// ReadTurns reads the mission's conversation, unless that would take long.
func (l *Library) ReadTurns(m *projects.Mission) ([]sessions.Turn, bool) {
	a := l.Adapter(m.Agent)
	if a == nil {
		return nil, false
	}
	talk, size, err := l.openPresentConversation(m, a)
	if err != nil {
		return nil, false
	}
	defer talk.Close()
	if size+talk.offsetInWhole > l.MaxCountedBytes {
		return nil, false
	}
	follower := a.Follow()
	if _, err := io.Copy(feeder{follower}, io.LimitReader(talk, l.MaxCountedBytes)); err != nil {
		return nil, false
	}
	return follower.Conversation().Turns, true
}

// ReadStoredBeforePrompt is a mission as it was at a snapshot, or where a prompt asked for that, at
// the one before: no cut there holds the prompt.
func ReadStoredBeforePrompt(p *projects.Project, s *gitstore.Snapshot) (projects.Stored, error) {
	if projects.TriggersOf(s).Has(missions.TriggerPrompt) && !s.Parent().IsZero() {
		before, err := p.Store.Snapshot(s.Parent())
		if err != nil {
			return projects.Stored{}, err
		}
		s = before
	}
	return p.ReadStored(s.Record)
}
