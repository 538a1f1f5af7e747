package claude

import (
	"bytes"
	"io"
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
		{"1.0.128", "tools.jsonl", oldPrompt},
		{"2.0.77", "tools.jsonl", `{"type":"queue-operation","operation":"dequeue"}` + "\n" + oldPrompt},
		{"2.1.197", "tools.jsonl", newPrompt},
		{"2.1.329", "file-history/55555555-5555-4555-8555-555555555555.jsonl", newPrompt},
		{"2.1.329", "parallel-thinking.jsonl", newPrompt},
		{"2.1.329", "tui-branch-compact.jsonl", newPrompt},
	} {
		t.Run(c.version+"/"+c.name, func(t *testing.T) {
			sessionstest.Test(t, subject(t, Adapter{}, c.version, c.name, c.unanswered))
		})
	}
}

// The faulty adapters each break one promise.
type (
	keepsPrompt   struct{ Adapter }
	cutsMidTool   struct{ Adapter }
	keepsTorn     struct{ Adapter }
	keepsID       struct{ Adapter }
	keepsPaths    struct{ Adapter }
	takesAnything struct{ Adapter }
	talksAlways   struct{ Adapter }
	dropsPrompt   struct{ Adapter }
	reformats     struct{ Adapter }
	forgetsLines  struct{ Adapter }
	keepsAll      struct{ Adapter }
	keepsSecrets  struct{ Adapter }
	saysNothing   struct{ Adapter }
)

func (keepsPrompt) Cut(r io.Reader) (sessions.Cut, error) {
	b, err := io.ReadAll(r)
	return sessions.Cut{Length: int64(len(b)), Events: bytes.Count(b, []byte("\n"))}, err
}

func (cutsMidTool) Cut(r io.Reader) (sessions.Cut, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return sessions.Cut{}, err
	}
	if i := bytes.Index(b, []byte(`"tool_use_id"`)); i > 0 {
		n := bytes.LastIndexByte(b[:i], '\n') + 1
		return sessions.Cut{Length: int64(n), Events: bytes.Count(b[:n], []byte("\n"))}, nil
	}
	return Adapter{}.Cut(bytes.NewReader(b))
}

func (keepsTorn) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if to.OldID != to.NewID {
		return Adapter{}.Rewrite(w, r, length, to)
	}
	_, err := io.Copy(w, io.LimitReader(r, length))
	return err
}

func (keepsID) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	to.NewID = to.OldID
	return Adapter{}.Rewrite(w, r, length, to)
}

func (keepsPaths) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	to.NewRoot = to.OldRoot
	return Adapter{}.Rewrite(w, r, length, to)
}

func (takesAnything) Event(sessions.Environ, string, []byte) (sessions.Event, error) {
	return sessions.Event{Kind: sessions.KindStop, Name: "Stop", SessionID: idA, Cwd: "/"}, nil
}

func (talksAlways) Reply(sessions.Event, sessions.Answer) []byte { return []byte("{}") }

func (dropsPrompt) Launch(o sessions.Launch) (sessions.Command, error) {
	o.Prompt = ""
	return Adapter{}.Launch(o)
}

func (reformats) UninstallHooks(settings []byte) ([]byte, bool, error) {
	out, remove, err := Adapter{}.UninstallHooks(settings)
	return bytes.TrimSpace(out), remove, err
}

func (forgetsLines) Read(r io.Reader) (sessions.Conversation, error) {
	c, err := Adapter{}.Read(r)
	c.Bad, c.Torn = 0, false
	return c, err
}

func (keepsAll) ConfigPaths() []string { return []string{"settings.json", "projects/"} }

func (keepsSecrets) CleanConfig(_ string, content []byte) ([]byte, error) { return content, nil }

func (saysNothing) Launch(o sessions.Launch) (sessions.Command, error) {
	o.Config = nil
	return Adapter{}.Launch(o)
}

// TestContractCatches: the suite finds each fault.
func TestContractCatches(t *testing.T) {
	for name, a := range map[string]sessions.Adapter{
		"keeps prompt": keepsPrompt{}, "cuts mid tool": cutsMidTool{}, "keeps torn": keepsTorn{}, "keeps id": keepsID{},
		"keeps paths": keepsPaths{}, "takes anything": takesAnything{}, "talks always": talksAlways{}, "drops prompt": dropsPrompt{},
		"reformats": reformats{}, "forgets lines": forgetsLines{},
		"keeps sessions with the configuration": keepsAll{}, "keeps secrets": keepsSecrets{}, "leaves a configuration out": saysNothing{},
	} {
		s := subject(t, a, "2.1.329", "file-history/55555555-5555-4555-8555-555555555555.jsonl", newPrompt)
		if problems := s.Check(); len(problems) == 0 {
			t.Errorf("an adapter that %s passes the suite", name)
		}
	}
}
