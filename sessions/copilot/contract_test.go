package copilot

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

const recorded = "testdata/1.0.102/recorded/"

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

const ourHook = "/usr/local/bin/umbra hook copilot || exit 0"

// itself is the environment of Copilot's hooks.
func itself(home string) sessions.Environ {
	return sessions.Environ{Home: home, Vars: map[string]string{varItself: "1", "CLAUDE_PROJECT_DIR": "/src/w"}}
}

func subject(t testing.TB, command ...string) sessionstest.Subject {
	t.Helper()
	s := sessionstest.Subject{
		Adapter: Adapter{}, Command: command, Env: itself(t.TempDir()), Transcript: fixture(t, "talk.jsonl"),
		Payloads: map[sessions.Kind][]byte{}, HookCommand: ourHook, Settings: [][]byte{nil, []byte(`{"version": 1, "hooks": {}}`), []byte("{\n\t\"version\": 1\n}\n")},
	}
	conv := conversation(t, s.Transcript)
	s.ID, s.Cwd = conv.ID, conv.Cwd
	for _, turn := range conv.Turns {
		s.Prompts = append(s.Prompts, turn.Prompt)
	}
	// A prompt with the beginning of its answer, as another session was killed in.
	ended := false
	for _, b := range lines(fixture(t, "interrupted.jsonl")) {
		l, _ := parseLine(bytes.TrimSpace(b))
		switch {
		case l.kind == typeResume:
			s.Unanswered, ended = nil, false
		case l.kind == typeAbort || ended:
			ended = true
		default:
			s.Unanswered = append(s.Unanswered, b...)
		}
	}
	for _, payload := range lines(fixture(t, "hooks.jsonl")) {
		e, err := Adapter{}.Event(s.Env, "", payload)
		if err != nil {
			t.Fatal(err)
		}
		if s.Payloads[e.Kind] == nil {
			s.Payloads[e.Kind] = bytes.TrimSpace(payload)
		}
	}
	return s
}

func conversation(t testing.TB, b []byte) sessions.Conversation {
	t.Helper()
	conv, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return conv
}

func TestContract(t *testing.T) {
	for _, command := range [][]string{
		{"copilot"}, {"/usr/bin/copilot", "--yolo"}, {"node", "/x/node_modules/@github/copilot/npm-loader.js", "-p", ""},
	} {
		s := subject(t, command...)
		if len(s.Prompts) != 3 {
			t.Fatalf("prompts %q", s.Prompts)
		}
		sessionstest.Test(t, s)
	}
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) { sessionstest.Catches(t, subject(t, "copilot")) }

// TestRecorded reads what the client was recorded to write and to tell.
func TestRecorded(t *testing.T) {
	sessionstest.Recorded(t, sessionstest.Recording{Adapter: Adapter{}, Dir: recorded, Env: itself("")})
}

// TestRewriteJoined: a path is found behind a flag and in a diff.
func TestRewriteJoined(t *testing.T) { sessionstest.Joined(t, Adapter{}) }
