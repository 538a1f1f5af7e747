package qwen

import (
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

// TestSubagent reads what a subagent was recorded to say.
func TestSubagent(t *testing.T) {
	t.Parallel()
	const name, id = "subagents/agent-general-purpose-call_c7c8df721ba94e8489cc", "general-purpose-call_c7c8df721ba94e8489cc"
	text, err := os.ReadFile("testdata/0.24.4/" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	sessionstest.Subagent(t, Adapter{}, name+".jsonl", id, text, "sub prompt: write", "sub finished",
		name+".meta.json", "subagents/x/agent-a.jsonl", "agent-a.jsonl", "subagents/notes.jsonl")
}
