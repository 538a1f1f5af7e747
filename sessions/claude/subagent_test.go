package claude

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

// TestSubagent reads what subagents were recorded to say, in files of their session's own
// directory and, with 2.0, beside the session.
func TestSubagent(t *testing.T) {
	t.Parallel()
	const dir, name = "2.1.329/tools-subagent-compact/85b30534-6164-4966-a9c1-bdcae92e15c6/", "subagents/agent-a6cac3ad311154d37"
	sessionstest.Subagent(t, Adapter{}, name+".jsonl", "a6cac3ad311154d37", fixture(t, dir+name+".jsonl"), "You are the sub.", "SUBDONE",
		name+".meta.json", "tool-results/b3up5u558.txt", "tasks/agent-a.jsonl", "subagents/a.jsonl")
	sessionstest.Subagent(t, Adapter{}, "agents/agent-a1b0316.jsonl", "a1b0316", fixture(t, "2.0.77/agent-a1b0316.jsonl"), "You are sub", "SUBDONE")
}
