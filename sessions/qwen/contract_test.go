package qwen

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

const (
	recorded = "testdata/0.24.4/recorded/"
	ourHook  = "/usr/local/bin/umbra hook qwen || exit 0"
)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(recorded + name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func lines(b []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

func conversation(t testing.TB, b []byte) sessions.Conversation {
	t.Helper()
	conv, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return conv
}

func subject(t testing.TB, command ...string) sessionstest.Subject {
	t.Helper()
	s := sessionstest.Subject{
		Adapter: Adapter{}, Command: command, Env: sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}},
		Transcript: fixture(t, "talk.jsonl"), Payloads: map[sessions.Kind][]byte{}, HookCommand: ourHook,
		Settings: [][]byte{
			[]byte("{\n  \"model\": {\"name\": \"m\"}\n}\n"),
			[]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]},"disableAllHooks":false}`),
		},
	}
	conv := conversation(t, s.Transcript)
	s.ID, s.Cwd = conv.ID, conv.Cwd
	for _, turn := range conv.Turns {
		s.Prompts = append(s.Prompts, turn.Prompt)
	}
	// A prompt with what the client notes before its answer.
	talk := lines(s.Transcript)
	last, _ := parseLine(talk[len(talk)-1])
	third, _ := parseLine(talk[len(talk)-4])
	s.Unanswered = bytes.Join(talk[len(talk)-4:len(talk)-1], nil)
	s.Unanswered = bytes.ReplaceAll(s.Unanswered, []byte(third.id), []byte("00000000-0000-4000-8000-000000000001"))
	s.Unanswered = bytes.Replace(s.Unanswered, []byte(third.parent), []byte(last.id), 1)
	for _, payload := range append(lines(fixture(t, "hooks.jsonl")), lines(fixture(t, "../hooks-tui.jsonl"))...) {
		e, err := Adapter{}.Event(s.Env, "", payload)
		if err != nil {
			t.Fatal(err)
		}
		if s.Payloads[e.Kind] == nil && e.Kind != sessions.KindOther {
			s.Payloads[e.Kind] = bytes.TrimSpace(payload)
		}
	}
	return s
}

func TestContract(t *testing.T) {
	for _, command := range [][]string{{"qwen"}, {"/usr/bin/qwen", "-y", "-p", "old"}, {"node", "/x/node_modules/@qwen-code/qwen-code/cli.js"}} {
		s := subject(t, command...)
		if len(s.Prompts) != 3 || len(s.Payloads) != 6 {
			t.Fatalf("prompts %q, payloads of %d kinds", s.Prompts, len(s.Payloads))
		}
		if command = s.Command; len(command) == 4 {
			s.Command = command[:2]
		}
		sessionstest.Test(t, s)
	}
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) { sessionstest.Catches(t, subject(t, "qwen")) }

// TestRecorded reads what the client was recorded to write and to tell.
func TestRecorded(t *testing.T) {
	sessionstest.Recorded(t, sessionstest.Recording{Adapter: Adapter{}, Dir: recorded, Endless: true})
}

// TestRewriteJoined: a path is found behind a flag and in a diff.
func TestRewriteJoined(t *testing.T) { sessionstest.Joined(t, Adapter{}) }
