package pi

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

const recorded = "testdata/1.5.2/recorded/"

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

// lastID is the id of a conversation's last line.
func lastID(t testing.TB, conversation []byte) string {
	t.Helper()
	all := lines(conversation)
	l, ok := parseLine(bytes.TrimSpace(all[len(all)-1]))
	if !ok || l.id == "" {
		t.Fatalf("the last line is %q", all[len(all)-1])
	}
	return l.id
}

const ourHook = "/usr/local/bin/umbra hook pi || exit 0"

func subject(t testing.TB, command ...string) sessionstest.Subject {
	t.Helper()
	s := sessionstest.Subject{
		Adapter: Adapter{}, Command: command, Env: sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}},
		Transcript: fixture(t, "talk.jsonl"), Payloads: map[sessions.Kind][]byte{}, HookCommand: ourHook,
	}
	conv := conversation(t, s.Transcript)
	s.ID, s.Cwd = conv.ID, conv.Cwd
	for _, turn := range conv.Turns {
		s.Prompts = append(s.Prompts, turn.Prompt)
	}
	// A prompt with the beginning of its answer, of another session.
	stopped := lines(fixture(t, "interrupted.jsonl"))
	first, _ := parseLine(stopped[len(stopped)-2])
	s.Unanswered = bytes.Replace(bytes.Join(stopped[len(stopped)-2:], nil), []byte(first.parent), []byte(lastID(t, s.Transcript)), 1)
	s.Unanswered = append(bytes.TrimSuffix(s.Unanswered, []byte("\n")), '\n')
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
	for _, command := range [][]string{{"pi"}, {"/usr/bin/pi", "-p"}, {"node", "/x/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js", "-nt"}} {
		s := subject(t, command...)
		if len(s.Prompts) != 3 {
			t.Fatalf("prompts %q", s.Prompts)
		}
		sessionstest.Test(t, s)
	}
}

// sided has the role that the suite breaks in any adapter: pi's sessions are one file.
type sided struct{ Adapter }

func (sided) Sides(sessions.Environ, sessions.Session) ([]sessions.Side, error) { return nil, nil }

func (sided) PlaceSides(sessions.Environ, []string, func(string) (io.ReadCloser, error), sessions.Rewrite) ([]sessions.File, error) {
	return nil, nil
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) {
	s := subject(t, "pi")
	s.Adapter = sided{}
	sessionstest.Catches(t, s)
}

// TestRecorded reads what the client was recorded to write and to tell.
func TestRecorded(t *testing.T) {
	sessionstest.Recorded(t, sessionstest.Recording{Adapter: Adapter{}, Dir: recorded})
}

// TestRewriteJoined: a path is found behind a flag and in a diff.
func TestRewriteJoined(t *testing.T) { sessionstest.Joined(t, Adapter{}) }
