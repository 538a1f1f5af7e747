package qwen

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestLaunch(t *testing.T) {
	for _, c := range []struct {
		command string
		o       sessions.Launch
		want    string
		session string
	}{
		{"qwen", sessions.Launch{SessionID: oldID}, "qwen --session-id " + oldID, oldID},
		{"qwen -m m hello", sessions.Launch{SessionID: oldID}, "qwen --session-id " + oldID + " -m m hello", oldID},
		{"qwen --continue", sessions.Launch{SessionID: oldID}, "qwen --continue", ""},
		{"qwen --session-id " + newID, sessions.Launch{SessionID: oldID}, "qwen --session-id " + newID, newID},
		{"qwen -r " + newID + " --fork-session x", sessions.Launch{SessionID: oldID}, "qwen -r " + newID + " --fork-session x", ""},
		{"qwen -c -m m old words", sessions.Launch{SessionID: oldID, Resume: true}, "qwen --resume " + oldID + " -m m", oldID},
		{"qwen -p old", sessions.Launch{SessionID: oldID, Resume: true, Prompt: "-new"}, "qwen --prompt=-new --resume " + oldID, oldID},
		{"qwen -y", sessions.Launch{SessionID: oldID, Resume: true, Prompt: "new"}, "qwen --prompt-interactive=new --resume " + oldID + " -y", oldID},
		{"qwen -p new", sessions.Launch{SessionID: oldID, Resume: true, Fresh: true}, "qwen --resume " + oldID + " -p new", oldID},
		{"qwen --worktree w -y", sessions.Launch{SessionID: oldID, Resume: true}, "qwen --resume " + oldID + " -y", oldID},
		{"qwen sessions list", sessions.Launch{SessionID: oldID}, "qwen sessions list", ""},
	} {
		c.o.Command = strings.Fields(c.command)
		cmd, err := Adapter{}.Launch(c.o)
		if got := strings.Join(cmd.Argv, " "); err != nil || got != c.want || cmd.SessionID != c.session {
			t.Errorf("%s: %q of session %q, %v; want %q of %q", c.command, got, cmd.SessionID, err, c.want, c.session)
		}
	}
	for name, o := range map[string]sessions.Launch{
		"no id":         {Command: []string{"qwen"}, Resume: true, SessionID: "../x"},
		"two prompts":   {Command: []string{"qwen", "one"}, Prompt: "two"},
		"a worktree":    {Command: []string{"qwen", "--worktree"}, SessionID: oldID},
		"another agent": {Command: []string{"gemini"}},
	} {
		if cmd, err := (Adapter{}).Launch(o); err == nil {
			t.Errorf("%s: %q", name, cmd.Argv)
		}
	}
}

// TestLaunchHooks: a launch has the hooks by a copy of the machine's settings, of which all
// else counts on; the installed ones serve where they are the same.
func TestLaunchHooks(t *testing.T) {
	const system = "/etc/mine.json"
	files := map[string]string{system: `{"model":{"name":"m"}}`}
	o := sessions.Launch{
		Command: []string{"qwen"}, Env: sessions.Environ{Home: "/h", Vars: map[string]string{varSystem: system}}, Dir: "/w",
		Hooks: sessions.LaunchHooks{Command: ourHook}, SettingsDir: "/settings",
		ReadFile: func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
	}
	launch := func(words string) sessions.Command {
		t.Helper()
		o.Command = strings.Fields(words)
		cmd, err := Adapter{}.Launch(o)
		if err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	cmd := launch("qwen")
	if !cmd.Hooked || cmd.Env[varSystem] != "/settings/"+settingsName || cmd.Env[varDefaults] != "/etc/system-defaults.json" || len(cmd.Files) != 1 {
		t.Fatalf("a launch is %+v", cmd)
	}
	var out bytes.Buffer
	if err := cmd.Files[0].Write(&out); err != nil || !strings.Contains(out.String(), ourHook) || !strings.Contains(out.String(), `"name":"m"`) {
		t.Errorf("its settings are %s, %v", out.String(), err)
	}
	for _, off := range []string{"qwen --bare", "qwen --safe-mode", "qwen --chat-recording=false"} {
		if cmd := launch(off); cmd.Hooked || cmd.Why == "" {
			t.Errorf("%s: %+v", off, cmd)
		}
	}
	files["/h/.qwen/settings.json"] = `{"disableAllHooks":true}`
	if cmd := launch("qwen"); cmd.Hooked || !strings.Contains(cmd.Why, "/h/.qwen/settings.json") {
		t.Errorf("switched off by its user: %+v", cmd)
	}
	files[system] = `{"disableAllHooks":false}`
	if cmd := launch("qwen"); !cmd.Hooked {
		t.Errorf("the machine's settings win: %+v", cmd)
	}
	delete(files, "/h/.qwen/settings.json")
	files[system] = `{ // mine`
	if cmd := launch("qwen"); cmd.Hooked || !strings.Contains(cmd.Why, system) {
		t.Errorf("settings that can't be read: %+v", cmd)
	}
	delete(files, system)
	ours, err := shape().Install(nil, ourHook)
	if err != nil {
		t.Fatal(err)
	}
	files["/h/.qwen/settings.json"] = string(ours)
	if cmd := launch("qwen"); !cmd.Hooked || len(cmd.Files) > 0 || cmd.Env != nil {
		t.Errorf("installed: %+v", cmd)
	}
}

func TestHeadless(t *testing.T) {
	for command, want := range map[string]string{
		"qwen": "qwen --prompt=", "qwen hello": "qwen --prompt= true", "qwen -y -p hello": "qwen --prompt= -y true", "qwen -i hello": "qwen --prompt=",
	} {
		got, already := Adapter{}.Headless(strings.Fields(command))
		is := strings.Join(got, " ")
		if already {
			is += " true"
		}
		if is != want {
			t.Errorf("%s: %q, want %q", command, is, want)
		}
	}
	if got := (Adapter{}).WithModel(strings.Fields("qwen -m a -p hello"), "b"); strings.Join(got, " ") != "qwen --model b -p hello" {
		t.Errorf("with a model: %q", got)
	}
	if got := (Adapter{}).WithoutWorktree(strings.Fields("qwen --worktree x -y")); strings.Join(got, " ") != "qwen -y" {
		t.Errorf("without a worktree: %q", got)
	}
}
