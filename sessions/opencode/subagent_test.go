package opencode

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

// TestSubagent reads what the plugin was recorded to write of a subagent.
func TestSubagent(t *testing.T) {
	t.Parallel()
	sessionstest.Subagent(t, Adapter{}, named(agent), agent, fixture(t, "subagent.jsonl"), "two", "sub two said",
		agent+".jsonl", "agents/"+agent+".pending")
}
