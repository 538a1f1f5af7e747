package copilot

import (
	"bytes"
	"path/filepath"
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
		{"copilot", sessions.Launch{SessionID: ours}, "copilot --session-id=" + ours, ours},
		{"copilot --allow-all -p hello", sessions.Launch{SessionID: ours}, "copilot --session-id=" + ours + " --allow-all -p hello", ours},
		{"copilot --continue", sessions.Launch{SessionID: ours}, "copilot --continue", ""},
		{"copilot --resume=" + theirs, sessions.Launch{SessionID: ours}, "copilot --resume=" + theirs, theirs},
		{"copilot --resume", sessions.Launch{SessionID: ours}, "copilot --resume", ""},
		{"copilot --session-id " + theirs, sessions.Launch{SessionID: ours}, "copilot --session-id " + theirs, theirs},
		{"copilot --continue --name n -C /x --worktree=w --yolo", sessions.Launch{SessionID: ours, Resume: true}, "copilot --resume=" + ours + " --yolo", ours},
		{"copilot -s -p old", sessions.Launch{SessionID: ours, Resume: true, Prompt: "-new"}, "copilot --prompt=-new --resume=" + ours + " -s", ours},
		{"copilot -i old", sessions.Launch{SessionID: ours, Resume: true}, "copilot --resume=" + ours, ours},
		{"copilot -p new", sessions.Launch{SessionID: ours, Resume: true, Fresh: true}, "copilot --resume=" + ours + " -p new", ours},
		{"copilot", sessions.Launch{SessionID: ours, Prompt: "begin"}, "copilot --interactive=begin --session-id=" + ours, ours},
		{"copilot login", sessions.Launch{SessionID: ours}, "copilot login", ""},
		{"copilot --acp", sessions.Launch{SessionID: ours}, "copilot --acp", ""},
	} {
		c.o.Command = strings.Fields(c.command)
		cmd, err := Adapter{}.Launch(c.o)
		if got := strings.Join(cmd.Argv, " "); err != nil || got != c.want || cmd.SessionID != c.session {
			t.Errorf("%s: %q of session %q, %v; want %q of %q", c.command, got, cmd.SessionID, err, c.want, c.session)
		}
	}
	for name, o := range map[string]sessions.Launch{
		"no id":         {Command: []string{"copilot"}, Resume: true, SessionID: "../x"},
		"two prompts":   {Command: []string{"copilot", "-p", "one"}, Prompt: "two"},
		"another agent": {Command: []string{"codex"}},
	} {
		if cmd, err := (Adapter{}).Launch(o); err == nil {
			t.Errorf("%s: %q", name, cmd.Argv)
		}
	}
}

// TestLaunchPlugin: a launch has the hooks and Umbra's tools by a plugin of its own; hooks
// that are installed serve.
func TestLaunchPlugin(t *testing.T) {
	env := itself("/h")
	launch := func(change func(*sessions.Launch)) (cmd sessions.Command, placed string) {
		o := sessions.Launch{Command: []string{"copilot"}, Hooks: sessions.LaunchHooks{Command: ourHook}, SettingsDir: "/settings", Env: env, Dir: "/src/w"}
		change(&o)
		cmd, err := Adapter{}.Launch(o)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		for _, f := range cmd.Files {
			out.WriteString(filepath.Base(f.Path) + ": ")
			if err := f.Write(&out); err != nil {
				t.Fatal(err)
			}
		}
		return cmd, out.String()
	}
	ours, err := Adapter{}.InstallHooks(nil, ourHook)
	if err != nil {
		t.Fatal(err)
	}
	have := func(o *sessions.Launch, settings []byte) {
		o.ReadFile = func(path string) ([]byte, error) {
			if path != "/h/.copilot/hooks/umbra.json" {
				t.Errorf("reads %s", path)
			}
			return settings, nil
		}
	}
	tools := func(o *sessions.Launch) { o.Server.Command = []string{"/bin/umbra", "mcp"} }
	off := bytes.Replace(ours, []byte("{"), []byte(`{"disableAllHooks": true, `), 1)
	for name, c := range map[string]struct {
		change    func(*sessions.Launch)
		files     int
		has, lack string
	}{
		"plain":                 {func(*sessions.Launch) {}, 2, `"hooks": "hooks.json"`, "mcpServers"},
		"with tools":            {tools, 3, `"mcpServers": ".mcp.json"`, ""},
		"installed":             {func(o *sessions.Launch) { have(o, ours) }, 0, "", "hooks"},
		"installed, with tools": {func(o *sessions.Launch) { have(o, ours); tools(o) }, 2, `"mcpServers": ".mcp.json"`, `"hooks"`},
		"switched off":          {func(o *sessions.Launch) { have(o, off) }, 2, `"hooks": "hooks.json"`, ""},
		"some are missing":      {func(o *sessions.Launch) { have(o, bytes.Replace(ours, []byte(`"Stop"`), []byte(`"Other"`), 1)) }, 2, ourHook, ""},
	} {
		cmd, placed := launch(c.change)
		if !cmd.Hooked || len(cmd.Files) != c.files || !strings.Contains(placed, c.has) || c.lack != "" && strings.Contains(placed, c.lack) {
			t.Errorf("%s: %+v\n%s", name, cmd, placed)
		}
		if got := strings.Join(cmd.Argv, " "); (c.files > 0) != strings.Contains(got, "--plugin-dir /settings") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if cmd, _ := launch(func(o *sessions.Launch) { o.SettingsDir = "" }); cmd.Hooked || cmd.Why == "" {
		t.Errorf("without a place: %+v", cmd)
	}
}

func TestHeadless(t *testing.T) {
	for command, want := range map[string]string{
		"copilot": "copilot --prompt=", "copilot -p hello -s": "copilot --prompt= -s true", "copilot -i hello --yolo": "copilot --prompt= --yolo",
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
	if got := (Adapter{}).WithModel(strings.Fields("copilot --model a -p hello"), "b"); strings.Join(got, " ") != "copilot --model b -p hello" {
		t.Errorf("with a model: %q", got)
	}
	if got := (Adapter{}).WithoutWorktree(strings.Fields("copilot --worktree=w --yolo")); strings.Join(got, " ") != "copilot --yolo" {
		t.Errorf("without a worktree: %q", got)
	}
}
