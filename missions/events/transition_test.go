package events

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// TestStoppedByHook: an agent that says that its user has stopped it is taken at its word.
func TestStoppedByHook(t *testing.T) {
	t.Parallel()
	if e, ok := lifecycleEvent(sessions.Event{Kind: sessions.KindStop, Stopped: true}); !ok || e != (missions.TurnStopped{}) {
		t.Errorf("it is %#v", e)
	}
}
