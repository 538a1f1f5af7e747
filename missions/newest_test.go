package missions

import "testing"

// TestUnreadTurnIsNotRemembered: a session file that could not be read is read again,
// though it has not changed since.
func TestUnreadTurnIsNotRemembered(t *testing.T) {
	t.Parallel()
	n := newNewest()
	if said, ok := n.of(Agents()[0], t.TempDir()); ok || len(n.seen) > 0 {
		t.Errorf("what can't be read shows %+v, and is remembered: %v", said, n.seen)
	}
}
