package missions

import (
	"os"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// newest is what session files were seen to show of their newest turns, by their paths,
// so that one that has not changed is not read again. It is safe for concurrent use.
type newest struct {
	mu   sync.Mutex
	seen map[string]shownTurn
}

// shownTurn is the newest turn of a session file, and what the file shows of it.
type shownTurn struct {
	size    int64
	written time.Time
	state   sessions.State
	turn    sessions.Turn
}

// at is when something was said in it last, as far as the file tells.
func (s shownTurn) at() time.Time {
	if s.turn.End.IsZero() {
		return s.written
	}
	return s.turn.End
}

// mostNewest bounds of how many files it is remembered.
const mostNewest = 64

func newNewest() *newest { return &newest{seen: map[string]shownTurn{}} }

// of reads the file where it is not as it was; false if it can't be read.
func (n *newest) of(a sessions.Adapter, path string) (shownTurn, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return shownTurn{}, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if was, ok := n.seen[path]; ok && was.size == info.Size() && was.written.Equal(info.ModTime()) {
		return was, true
	}
	now := shownTurn{size: info.Size(), written: info.ModTime()}
	if now.state, now.turn, err = newestTurn(a, path, now.size); err != nil {
		return shownTurn{}, false
	}
	if len(n.seen) >= mostNewest {
		clear(n.seen)
	}
	n.seen[path] = now
	return now, true
}

// shownTurn is what a mission's session file shows of its newest turn; false where it
// has none that is known.
func (l *Local) shownTurn(m *loaded) (shownTurn, bool) {
	a := l.adapter(m.Agent)
	if a == nil || isForeign(a) || m.bind.Session == "" {
		return shownTurn{}, false
	}
	return l.newest.of(a, m.bind.Session)
}
