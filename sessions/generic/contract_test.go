package generic

import (
	"io"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

const session = "3b1f-talk"

// payloads are one of each event, as docs/agents/generic.md describes them.
func payloads() map[sessions.Kind][]byte {
	all := map[sessions.Kind][]byte{}
	for kind, more := range map[sessions.Kind]string{
		sessions.KindSessionStart: `"event":"session-start","agent":"aider","pid":4711,"resume":["aider","--restore","{transcript}"]`,
		sessions.KindPrompt:       `"event":"prompt","prompt":"make it better","prompt_id":"p1"`,
		sessions.KindToolBefore:   `"event":"tool-before","tool":{"name":"edit","target":"a.txt","id":"t1","writes":true,"files":["a.txt"]}`,
		sessions.KindToolAfter:    `"event":"tool-after","tool":{"name":"edit","target":"a.txt","id":"t1"}`,
		sessions.KindPermission:   `"event":"permission","tool":{"name":"shell","target":"rm -r x","id":"t2"}`,
		sessions.KindAnswered:     `"event":"answered","tool":{"id":"t2"}`,
		sessions.KindStop:         `"event":"idle","usage":{"input_tokens":12,"output_tokens":3,"cost_usd":0.25}`,
		sessions.KindError:        `"event":"error","message":"no answer"`,
		sessions.KindSessionEnd:   `"event":"session-end"`,
	} {
		all[kind] = []byte(`{"session":"` + session + `","cwd":"/w","transcript":"/t/talk.md",` + more + `}`)
	}
	return all
}

func subject(t *testing.T, a sessions.Adapter) sessionstest.Subject {
	return sessionstest.Subject{
		Adapter: a, Command: []string{"aider"}, Env: sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}},
		Transcript: []byte("# aider\r\n\x00\xff one\n\ntwo /w/a.txt"), ID: session, Cwd: "/w",
		Payloads: payloads(), HookCommand: "/usr/local/bin/umbra hook generic || exit 0",
	}
}

func TestContract(t *testing.T) {
	sessionstest.Test(t, subject(t, Adapter{Dir: t.TempDir()}))
}

// TestContractFindsFaults: an adapter that breaks it fails the suite.
func TestContractFindsFaults(t *testing.T) {
	whole := Adapter{Dir: t.TempDir()}
	for name, broken := range map[string]sessions.Adapter{
		"cut": cuts{whole}, "changed": changes{whole}, "resumed": resumes{whole}, "takes all": takes{whole}, "installs": installs{Adapter: whole},
	} {
		if problems := subject(t, broken).Check(); len(problems) == 0 {
			t.Errorf("%s: nothing was found", name)
		}
	}
}

type cuts struct{ Adapter }

func (c cuts) Cut(r io.Reader) (sessions.Cut, error) {
	cut, err := c.Adapter.Cut(r)
	cut.Length -= cut.Length / 2
	return cut, err
}

type changes struct{ Adapter }

func (c changes) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	return c.Adapter.Rewrite(w, r, length/2, to)
}

type resumes struct{ Adapter }

func (resumes) Resumable([]string) bool { return true }

type takes struct{ Adapter }

func (takes) Runs([]string) bool { return true }

type installs struct {
	Adapter
	settings
}

// settings are hooks of a tool that would call none.
type settings struct{}

func (settings) HookFile(sessions.Environ, sessions.Scope, string) string    { return "" }
func (settings) InstallHooks(in []byte, _ string) ([]byte, error)            { return in, nil }
func (settings) UninstallHooks(in []byte) ([]byte, bool, error)              { return in, false, nil }
func (settings) HookCommands([]byte) (commands, missing []string, err error) { return nil, nil, nil }
