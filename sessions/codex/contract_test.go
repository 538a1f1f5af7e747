package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

const (
	version = "0.169.0"
	ourHook = "/usr/local/bin/umbra hook codex || exit 0"
	idA     = "01a20240-aaaa-70f3-8cf7-6473b39ae7cc"
	idB     = "01a20240-bbbb-70f3-8cf7-6473b39ae7cc"
)

// fixture is a file that the real client has written, by which forks' bytes are
// held; scripts/clients/record makes others.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", version, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// payloads are those of the recorded hooks, the first of each kind.
func payloads(t testing.TB) map[sessions.Kind][]byte {
	t.Helper()
	found := map[sessions.Kind][]byte{}
	for row := range bytes.Lines(fixture(t, "hooks.jsonl")) {
		row = bytes.TrimSpace(row)
		if kind, ok := kinds[jsontext.Text(jsontext.Lookup(row, "hook_event_name"))]; ok && found[kind] == nil {
			found[kind] = row
		}
	}
	return found
}

var settingsCases = []string{
	"{}", "{\n}\n", `{"description": "mine"}`, `{"hooks":{}}`,
	"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\"type\": \"command\", \"command\": \"mine\"}\n        ]\n      }\n    ]\n  }\n}\n",
}

const unanswered = `{"timestamp":"2026-11-22T08:00:00.000Z","ordinal":60,"type":"event_msg","payload":{"type":"task_started","turn_id":"t9"}}` + "\n" +
	`{"timestamp":"2026-11-22T08:00:00.001Z","ordinal":61,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"one more QUOKKA"}]}}` + "\n" +
	`{"timestamp":"2026-11-22T08:00:00.002Z","ordinal":62,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"one more QUOKKA"}]}}}` + "\n"

func subject(t *testing.T) sessionstest.Subject {
	t.Helper()
	s := sessionstest.Subject{
		Adapter: Adapter{}, Command: []string{"codex"}, Env: sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}},
		Transcript: fixture(t, "talk.jsonl"), Unanswered: []byte(unanswered), Payloads: payloads(t), HookCommand: ourHook,
	}
	conv := read(t, s.Transcript)
	s.ID, s.Cwd = conv.ID, conv.Cwd
	for _, turn := range conv.Turns {
		s.Prompts = append(s.Prompts, turn.Prompt)
	}
	for _, in := range settingsCases {
		s.Settings = append(s.Settings, []byte(in))
	}
	return s
}

func read(t testing.TB, b []byte) sessions.Conversation {
	t.Helper()
	c, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestContract(t *testing.T) { sessionstest.Test(t, subject(t)) }

// TestBareContract: an adapter in none of the roles, of twelve methods, keeps to the
// contract too.
func TestBareContract(t *testing.T) {
	s := subject(t)
	s.Adapter = struct{ sessions.Adapter }{s.Adapter}
	sessionstest.Test(t, s)
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) { sessionstest.Catches(t, subject(t)) }

// TestRecorded reads what the client was recorded to write.
func TestRecorded(t *testing.T) {
	sessionstest.Recorded(t, sessionstest.Recording{Adapter: Adapter{}, Dir: filepath.Join("testdata", version, "recorded"), Apart: true})
}

// TestRewriteJoined: a path is found behind a flag and in a diff.
func TestRewriteJoined(t *testing.T) { sessionstest.Joined(t, Adapter{}) }
