package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestQueuedPromptIsGivenBack ends Claude Code in the middle of a turn while a prompt
// waits for the end of it: the prompt is in what the restore says, in the terminal, and in
// the snapshot before the restore.
func TestQueuedPromptIsGivenBack(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	s.prompts("tui", "alpha, please [[say alpha done]]", 1)
	s.see("alpha done")
	s.is("tui", "idle", 1)
	s.stuck("busy", 2)
	const prompt = "bravo, please, and all of what is said behind it, up to its very end"
	s.queues(prompt)
	process := p.mission("tui").PID
	r := asked[struct {
		Safety     string                  `json:"safety_snapshot"`
		NotTakenUp []struct{ Text string } `json:"not_taken_up"`
	}](p, "restore", "tui@1", "--force")
	if len(r.NotTakenUp) != 1 || r.NotTakenUp[0].Text != prompt {
		t.Errorf("the restore says %+v", r)
	}
	s.relaunched(process, `not taken up: "bravo, please`, "in the middle")
	if shown := p.umbra("show", r.Safety); !strings.Contains(shown, "sent, and not taken up by the agent:\n    "+prompt) {
		t.Errorf("the snapshot before it says\n%s", shown)
	}
	s.stops("tui")
}

// queues enters a prompt while the mission's agent works, and waits until it is queued.
func (s *terminal) queues(line string) {
	s.p.Helper()
	s.enter(line)
	s.watch("the prompt to be queued", func() bool {
		talk, err := os.ReadFile(s.p.mission("tui").SessionPath)
		return err == nil && strings.Contains(string(talk), `"operation":"enqueue"`) && strings.Contains(string(talk), beforeScript(line))
	})
}
