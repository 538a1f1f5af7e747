package conversations

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestUnreadTurnIsNotRemembered: a session file that could not be read is read again,
// though it has not changed since.
func TestUnreadTurnIsNotRemembered(t *testing.T) {
	t.Parallel()
	n := newTurnCache()
	if said, ok := n.readNewestTurn(projects.Agents()[0], t.TempDir()); ok || len(n.turns) > 0 {
		t.Errorf("what can't be read shows %+v, and is remembered: %v", said, n.turns)
	}
}
