package gemini

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

// transcripts are real ones, written by the real client: three runs within a
// minute; turns that were cancelled, one while the model thought and one while a
// command ran; one that was rewound; one with a tool that a hook denied; turns that the
// API refused.
var transcripts = []string{"resumed.jsonl", "cancelled.jsonl", "rewound.jsonl", "denied.jsonl", "refused.jsonl"}

const (
	ourHook  = "/usr/local/bin/umbra hook gemini || exit 0"
	otherID  = "0f0e0d0c-0b0a-4908-8706-050403020100"
	asked1   = `{"id":"p1","timestamp":"2026-11-21T01:30:07.115Z","type":"user","content":[{"text":"one"}]}`
	asked2   = `{"id":"p2","timestamp":"2026-11-21T01:31:07.115Z","type":"user","content":[{"text":"two"}]}`
	said1    = `{"id":"a1","timestamp":"2026-11-21T01:30:08.115Z","type":"gemini","content":"done one","tokens":{"input":10,"output":5,"thoughts":2}}`
	said2    = `{"id":"a2","timestamp":"2026-11-21T01:31:08.115Z","type":"gemini","content":"done two"}`
	begun2   = `{"id":"a2","timestamp":"2026-11-21T01:31:08.115Z","type":"gemini","content":""}`
	called2  = `{"id":"a2","timestamp":"2026-11-21T01:31:08.115Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"write_file","args":{"file_path":"x.txt"},"status":"success","result":[{"functionResponse":{"id":"c1"}}]}]}`
	waits2   = `{"id":"a2","timestamp":"2026-11-21T01:31:08.115Z","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"write_file","args":{"file_path":"x.txt"},"status":"executing"}]}`
	results2 = `{"id":"r2","timestamp":"2026-11-21T01:31:09.115Z","type":"user","content":[{"functionResponse":{"id":"c1","response":{"output":"ok"}}}]}`
	touched  = `{"$set":{"lastUpdated":"2026-11-21T01:31:09.115Z"}}`
)

// transcript joins lines of JSON, given without line ends.
func transcript(lines ...string) string {
	var out bytes.Buffer
	for _, l := range lines {
		out.WriteString(l + "\n")
	}
	return out.String()
}

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "0.61.0", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// payloads are one of each kind of what the client gave its hooks.
func payloads(t testing.TB) []json.RawMessage {
	t.Helper()
	var list []json.RawMessage
	for line := range bytes.Lines(fixture(t, "hooks.jsonl")) {
		list = append(list, json.RawMessage(bytes.TrimSpace(line)))
	}
	return list
}

func read(t testing.TB, b []byte) sessions.Conversation {
	t.Helper()
	c, err := sessions.ReadConversation(Adapter{}, bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mkfile(t testing.TB, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func subject(t testing.TB, a sessions.Adapter, name string) sessionstest.Subject {
	t.Helper()
	s := sessionstest.Subject{
		Adapter: a, Command: []string{"gemini"}, Env: sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}},
		Transcript: fixture(t, name), Unanswered: []byte(transcript(asked1, touched)),
		Payloads: map[sessions.Kind][]byte{}, HookCommand: ourHook,
		Settings: [][]byte{
			[]byte("{\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}\n}\n"),
			[]byte(`{"hooks":{"BeforeTool":[{"matcher":"write_file","hooks":[{"type":"command","command":"mine"}]}]},"hooksConfig":{"disabled":[]}}`),
		},
	}
	c := read(t, s.Transcript)
	s.ID, s.Cwd = c.ID, c.Cwd
	for _, turn := range c.Turns {
		s.Prompts = append(s.Prompts, turn.Prompt)
	}
	for _, p := range payloads(t) {
		e, err := Adapter{}.Event(sessions.Environ{}, "", p)
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind != sessions.KindOther && s.Payloads[e.Kind] == nil {
			s.Payloads[e.Kind] = p
		}
	}
	return s
}
