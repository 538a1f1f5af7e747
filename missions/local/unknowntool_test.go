package local

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestUnknownToolByHand: the name of a tool that was started by hand is no command.
func TestUnknownToolByHand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	for _, event := range []string{"session-start", "idle", "session-end"} {
		payload := fmt.Sprintf(`{"session":"s1","event":%q,"agent":"date"}`, event)
		if r, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: b.caller(), Agent: "generic", Payload: []byte(payload)}); err != nil || r.Problem != "" {
			t.Fatalf("%s: %v %s", event, err, r.Problem)
		}
	}
	m := b.only()
	launch, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: m.ID, Resume: true})
	if err == nil || !strings.Contains(err.Error(), "date: its hook has not said how it is started") {
		t.Errorf("it is resumed by %q: %v", launch.Argv, err)
	}
	launch, err = b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: m.ID, Resume: true, Command: []string{"date"}})
	if err != nil || strings.Join(launch.Argv, " ") != "date" {
		t.Errorf("with its command it is resumed by %q: %v", launch.Argv, err)
	}
	b.healthy()
}
