package opencode

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

// The fixtures are what the plugin wrote and told of version 1.18.33: talk.jsonl
// of two `opencode run`; stopped.jsonl goes on from there in the terminal with a
// turn stopped by Esc, one whose tool asked while another prompt came, and that
// prompt, which the model's service refused; compacted.jsonl of two turns in the terminal
// and their summary, beside which the second is kept.
const version = "testdata/1.18.33/"

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(version + name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func lines(b []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

const ourHook = "/usr/local/bin/umbra hook opencode || exit 0"

func subject(t testing.TB, a sessions.Adapter, command ...string) sessionstest.Subject {
	t.Helper()
	s := sessionstest.Subject{
		Adapter: a, Command: command, Spoken: slices.Contains(command, "run"), Env: sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}},
		Transcript: fixture(t, "talk.jsonl"), Payloads: map[sessions.Kind][]byte{}, HookCommand: ourHook,
	}
	conv, err := sessions.ReadConversation(a, bytes.NewReader(s.Transcript))
	if err != nil {
		t.Fatal(err)
	}
	s.ID, s.Cwd = conv.ID, conv.Cwd
	for _, turn := range conv.Turns {
		s.Prompts = append(s.Prompts, turn.Prompt)
	}
	// A prompt with the beginning of its answer.
	stopped, said := lines(fixture(t, "stopped.jsonl")), len(lines(s.Transcript))
	s.Unanswered = bytes.Join(stopped[said:said+3], nil)
	for _, payload := range lines(fixture(t, "hooks.jsonl")) {
		e, err := Adapter{}.Event(s.Env, "", payload)
		if err != nil {
			t.Fatal(err)
		}
		if s.Payloads[e.Kind] == nil {
			s.Payloads[e.Kind] = bytes.TrimSpace(payload)
		}
	}
	if told := 9; len(s.Payloads) != told {
		t.Fatalf("payloads of %d kinds, %d are told", len(s.Payloads), told)
	}
	return s
}

func TestContract(t *testing.T) {
	for _, command := range [][]string{{"opencode"}, {"/usr/bin/opencode", "run"}} {
		s := subject(t, Adapter{}, command...)
		if len(s.Prompts) != 2 {
			t.Fatalf("prompts %q", s.Prompts)
		}
		sessionstest.Test(t, s)
	}
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) { sessionstest.Catches(t, subject(t, Adapter{}, "opencode")) }

// TestRecorded reads what the client was recorded to say to the plugin.
func TestRecorded(t *testing.T) {
	sessionstest.Recorded(t, sessionstest.Recording{Adapter: Adapter{}, Dir: version + "recorded"})
}

// TestRewriteJoined: a path is found behind a flag and in a diff.
func TestRewriteJoined(t *testing.T) { sessionstest.Joined(t, Adapter{}) }
