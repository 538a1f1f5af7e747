package gemini

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

func TestContract(t *testing.T) {
	for _, name := range []string{"resumed.jsonl", "cancelled.jsonl", "denied.jsonl", "refused.jsonl", "recorded/talk.jsonl"} {
		t.Run(name, func(t *testing.T) {
			s := subject(t, Adapter{}, name)
			if len(s.Payloads) != 7 || len(s.Prompts) == 0 || s.Cwd == "" {
				t.Fatalf("payloads of %d kinds, prompts %q in %q", len(s.Payloads), s.Prompts, s.Cwd)
			}
			sessionstest.Test(t, s)
		})
	}
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) {
	sessionstest.Catches(t, subject(t, Adapter{}, "resumed.jsonl"))
}

// TestRecorded reads what the client was recorded to write.
func TestRecorded(t *testing.T) {
	sessionstest.Recorded(t, sessionstest.Recording{Adapter: Adapter{}, Dir: "testdata/0.61.0/recorded", Mute: true})
}

// TestRewriteJoined: a path is found behind a flag and in a diff.
func TestRewriteJoined(t *testing.T) { sessionstest.Joined(t, Adapter{}) }
