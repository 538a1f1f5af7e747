package gemini

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

// TestSubagent: the file of a subagent is one like its session's.
func TestSubagent(t *testing.T) {
	t.Parallel()
	sessionstest.Subagent(t, Adapter{}, "agents/helper.jsonl", "helper", fixture(t, "recorded/talk.jsonl"), "first PLATYPUS", "done",
		"own/plans/helper.jsonl", "outputs/helper.jsonl", "agents/helper.txt")
}
