package claude

import (
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

// subject is the adapter with one real transcript and the payloads of the same
// version's hooks.
func subject(t testing.TB, a sessions.Adapter, version, name, unanswered string) sessionstest.Subject {
	t.Helper()
	s := sessionstest.Subject{
		Adapter: a, Command: []string{"claude"}, Env: sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}},
		Transcript: fixture(t, version+"/"+name), Unanswered: []byte(unanswered),
		Payloads: map[sessions.Kind][]byte{}, HookCommand: ourHook,
	}
	conv := read(t, s.Transcript)
	s.ID, s.Cwd = conv.ID, conv.Cwd
	for _, turn := range conv.Turns {
		s.Prompts = append(s.Prompts, turn.Prompt)
	}
	for _, r := range hookLog(t, version) {
		if kind, ok := kinds[r.Event]; ok && s.Payloads[kind] == nil {
			s.Payloads[kind] = r.Payload
		}
	}
	for _, in := range settingsCases {
		s.Settings = append(s.Settings, []byte(in))
	}
	return s
}

const (
	oldPrompt = `{"type":"user","uuid":"p9","isSidechain":false,"message":{"role":"user","content":"one more QUOKKA"}}` + "\n"
	newPrompt = `{"type":"queue-operation","operation":"enqueue","content":"one more QUOKKA"}` + "\n" +
		`{"type":"queue-operation","operation":"dequeue"}` + "\n" + oldPrompt +
		`{"type":"attachment","parentUuid":"p9","uuid":"x9","attachment":{"type":"environment"}}` + "\n" +
		`{"type":"last-prompt","lastPrompt":"one more QUOKKA","leafUuid":"x9"}` + "\n"
)

func TestContract(t *testing.T) {
	for _, c := range []struct{ version, name, unanswered string }{
		{"2.0.77", "tools.jsonl", `{"type":"queue-operation","operation":"dequeue"}` + "\n" + oldPrompt},
		{"2.1.197", "tools.jsonl", newPrompt},
		{"2.0.77", "recorded/talk.jsonl", oldPrompt},
		{"2.1.197", "recorded/talk.jsonl", newPrompt},
		{"2.1.329", "recorded/talk.jsonl", newPrompt},
		{"2.1.329", "file-history/55555555-5555-4555-8555-555555555555.jsonl", newPrompt},
		{"2.1.329", "parallel-thinking.jsonl", newPrompt},
		{"2.1.329", "tui-branch-compact.jsonl", newPrompt},
	} {
		t.Run(c.version+"/"+c.name, func(t *testing.T) {
			sessionstest.Test(t, subject(t, Adapter{}, c.version, c.name, c.unanswered))
		})
	}
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) {
	sessionstest.Catches(t, subject(t, Adapter{}, "2.1.329", "file-history/55555555-5555-4555-8555-555555555555.jsonl", newPrompt))
}

// TestRecorded reads what each version was recorded to write.
func TestRecorded(t *testing.T) {
	for _, version := range []string{"2.0.77", "2.1.197", "2.1.329"} {
		t.Run(version, func(t *testing.T) {
			sessionstest.Recorded(t, sessionstest.Recording{Adapter: Adapter{}, Dir: "testdata/" + version + "/recorded"})
		})
	}
}

// TestRewriteJoined: a path is found behind a flag and in a diff.
func TestRewriteJoined(t *testing.T) { sessionstest.Joined(t, Adapter{}) }
