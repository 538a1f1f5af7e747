package pi

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestLaunch(t *testing.T) {
	const id = "01a22376-bf4b-74ec-92a6-e57b6fa81185"
	for _, c := range []struct {
		command string
		o       sessions.Launch
		want    string
		session string
	}{
		{"pi", sessions.Launch{SessionID: id}, "pi", ""},
		{"pi --model m hello", sessions.Launch{SessionID: id}, "pi --model m -- hello", ""},
		{"pi -p hello", sessions.Launch{SessionID: id}, "pi -p -- hello", ""},
		{"pi --continue", sessions.Launch{SessionID: id}, "pi --continue", ""},
		{"pi --session-id mine", sessions.Launch{SessionID: id}, "pi --session-id mine", "mine"},
		{"pi -nt -ne", sessions.Launch{SessionID: id}, "pi --no-tools --no-extensions", ""},
		{"pi -c --name n old words", sessions.Launch{SessionID: id, Resume: true}, "pi --session " + id + " --name n", id},
		{"pi -p old", sessions.Launch{SessionID: id, Resume: true, Prompt: "-new"}, "pi --session " + id + " -p -- -new", id},
		{"pi new", sessions.Launch{SessionID: id, Resume: true, Fresh: true}, "pi --session " + id + " -- new", id},
		{"pi", sessions.Launch{SessionID: id, Prompt: "@file"}, "pi --  @file", ""},
		{"node /x/pi-coding-agent/dist/cli.js -r", sessions.Launch{SessionID: id, Resume: true}, "node /x/pi-coding-agent/dist/cli.js --session " + id, id},
		{"pi list", sessions.Launch{SessionID: id}, "pi list", ""},
	} {
		c.o.Command = strings.Fields(c.command)
		cmd, err := Adapter{}.Launch(c.o)
		if got := strings.Join(cmd.Argv, " "); err != nil || got != c.want || cmd.SessionID != c.session {
			t.Errorf("%s: %q of session %q, %v; want %q of %q", c.command, got, cmd.SessionID, err, c.want, c.session)
		}
	}
	for name, o := range map[string]sessions.Launch{
		"no id":       {Command: []string{"pi"}, Resume: true, SessionID: "../x"},
		"two prompts": {Command: []string{"pi", "one"}, Prompt: "two"},
	} {
		if cmd, err := (Adapter{}).Launch(o); err == nil {
			t.Errorf("%s: %q", name, cmd.Argv)
		}
	}
}

// TestLaunchExtension: a launch has the extension by a file of its own, with Umbra's tools;
// the installed one serves where there are none to bring.
func TestLaunchExtension(t *testing.T) {
	o := sessions.Launch{Command: []string{"pi"}, SessionID: "s", Hooks: sessions.LaunchHooks{Command: ourHook}, SettingsDir: "/settings"}
	launch := func(change func(*sessions.Launch)) sessions.Command {
		o := o
		change(&o)
		cmd, err := Adapter{}.Launch(o)
		if err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	placed := func(cmd sessions.Command) string {
		var out bytes.Buffer
		for _, f := range cmd.Files {
			if err := f.Write(&out); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	ours, err := extension().For(ourHook)
	if err != nil {
		t.Fatal(err)
	}
	installed := func(o *sessions.Launch) { o.ReadFile = func(string) ([]byte, error) { return ours, nil } }
	plain := launch(func(*sessions.Launch) {})
	if !plain.Hooked || !slices.Equal(plain.Argv, []string{"pi", "--extension", "/settings/umbra.js"}) || placed(plain) != string(ours) {
		t.Errorf("plain: %+v", plain)
	}
	tools := func(o *sessions.Launch) { o.Server.Command = []string{"/bin/umbra", "mcp"} }
	if cmd := launch(tools); !cmd.Hooked || !strings.Contains(placed(cmd), "\nconst server = [\"/bin/umbra\",\"mcp\"]\n") {
		t.Errorf("with tools: %+v\n%s", cmd, placed(cmd))
	}
	if cmd := launch(installed); !cmd.Hooked || len(cmd.Files) > 0 {
		t.Errorf("installed: %+v", cmd)
	}
	if cmd := launch(func(o *sessions.Launch) { installed(o); tools(o) }); !cmd.Hooked || len(cmd.Files) != 1 {
		t.Errorf("installed, with tools: %+v", cmd)
	}
	if cmd := launch(func(o *sessions.Launch) { installed(o); o.Command = []string{"pi", "-ne"} }); !cmd.Hooked || len(cmd.Files) != 1 {
		t.Errorf("installed, and switched off: %+v", cmd)
	}
	for name, change := range map[string]func(*sessions.Launch){
		"no place":   func(o *sessions.Launch) { o.SettingsDir = "" },
		"no session": func(o *sessions.Launch) { o.Command = []string{"pi", "--no-session"} },
	} {
		if cmd := launch(change); cmd.Hooked || cmd.Why == "" {
			t.Errorf("%s: %+v", name, cmd)
		}
	}
}

func TestHeadless(t *testing.T) {
	for command, want := range map[string]string{
		"pi hello": "pi --print", "pi -p hello": "pi --print true", "pi --mode json x": "pi --mode json true", "pi --model m --tui-mode regular": "pi --model m --print",
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
	if got := (Adapter{}).WithModel(strings.Fields("pi --model a -p hello"), "b"); strings.Join(got, " ") != "pi --model b -p hello" {
		t.Errorf("with a model: %q", got)
	}
}
