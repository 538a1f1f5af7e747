package conversations

import (
	"os"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

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
