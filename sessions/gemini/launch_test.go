package gemini

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestLaunch(t *testing.T) {
	fresh, again := sessions.Launch{SessionID: otherID}, sessions.Launch{SessionID: otherID, Resume: true}
	with := func(o sessions.Launch, prompt string, fresh bool) sessions.Launch {
		o.Prompt, o.Fresh = prompt, fresh
		return o
	}
	for _, c := range []struct {
		o             sessions.Launch
		command, want string
		session       string
	}{
		{fresh, "gemini", "gemini --session-id ID", otherID},
		{again, "gemini", "gemini --resume ID", otherID},
		{fresh, "gemini -y --resume latest", "gemini -y --resume latest", ""},
		{fresh, "gemini -r", "gemini -r", ""},
		{fresh, "gemini --resume=" + thisID, "gemini --resume=" + thisID, thisID},
		{fresh, "gemini --session-file x.json", "gemini --session-file x.json", ""},
		{again, "gemini -m x --session-id " + thisID + " -y", "gemini --resume ID -m x -y", otherID},
		{with(fresh, "go on", false), "gemini -w", "gemini go_on --session-id ID -w", otherID},
		{with(fresh, "-x", false), "gemini", "gemini _-x --session-id ID", otherID},
		{with(fresh, "mcp", false), "gemini", "gemini _mcp --session-id ID", otherID},
		{with(again, "go on", false), "gemini -p first -o json", "gemini --prompt=go_on --resume ID -o json", otherID},
		{with(again, "-x", false), "gemini -yp first", "gemini --prompt=-x --resume ID -y", otherID},
		{with(again, "go on", false), "gemini explain this", "gemini go_on --resume ID", otherID},
		{again, "gemini -p first -o json", "gemini --resume ID -o json", otherID},
		{with(again, "", true), "gemini -p first -o json", "gemini --resume ID -p first -o json", otherID},
		{with(again, "", true), "node --x /opt/gemini-cli/bundle/gemini.js explain", "node --x /opt/gemini-cli/bundle/gemini.js --resume ID explain", otherID},
		{fresh, "gemini mcp list", "gemini mcp list", ""},
		{fresh, "gemini --list-sessions", "gemini --list-sessions", ""},
	} {
		c.o.Command = strings.Fields(c.command)
		cmd, err := Adapter{}.Launch(c.o)
		if err != nil {
			t.Errorf("%s: %v", c.command, err)
			continue
		}
		for i, word := range cmd.Argv {
			cmd.Argv[i] = strings.ReplaceAll(strings.ReplaceAll(word, " ", "_"), otherID, "ID")
		}
		if got := strings.Join(cmd.Argv, " "); got != c.want || cmd.SessionID != c.session {
			t.Errorf("%s becomes %s in session %q, want %s in %q", c.command, got, cmd.SessionID, c.want, c.session)
		}
	}
	for _, o := range []sessions.Launch{
		{Command: []string{"claude"}}, {Command: []string{"gemini"}, SessionID: "latest"}, {Command: []string{"gemini"}, Resume: true},
		{Command: []string{"gemini", "-p", "x"}, Prompt: "y"}, {Command: []string{"gemini", "x"}, Prompt: "y", SessionID: otherID, Resume: true, Fresh: true},
	} {
		if cmd, err := (Adapter{}).Launch(o); err == nil {
			t.Errorf("%q is launched as %q", o.Command, cmd.Argv)
		}
	}
}

// TestLaunchBegun: a session that was begun, and killed before it said anything,
// can be neither resumed nor begun again.
func TestLaunchBegun(t *testing.T) {
	env, root := newStore(t)
	o := sessions.Launch{Command: []string{"gemini"}, SessionID: otherID, Env: env, Dir: "/w/app"}
	mkfile(t, filepath.Join(root, "tmp", "app", "chats", "session-2026-11-21T01-30-0f0e0d0c.jsonl"), `{"sessionId":"`+otherID+`","projectHash":"x"}`+"\n")
	if cmd, err := (Adapter{}).Launch(o); err != nil || !slices.Equal(cmd.Argv, []string{"gemini"}) || cmd.SessionID != "" {
		t.Errorf("launched %q, %v", cmd.Argv, err)
	}
}

// TestLaunchHooks: a launch is heard of if hooks are installed and not switched
// off, and else says why not.
func TestLaunchHooks(t *testing.T) {
	installed, err := Adapter{}.InstallHooks(nil, ourHook)
	if err != nil {
		t.Fatal(err)
	}
	const off, on = `{"hooksConfig":{"enabled":false}}`, `{"hooksConfig":{"enabled":true}}`
	both := strings.Replace(string(installed), "{", `{"hooksConfig":{"enabled":false},`, 1)
	for name, c := range map[string]struct{ user, project, why string }{
		"none":                   {why: "umbra hooks install gemini"},
		"installed":              {user: string(installed)},
		"in the project":         {project: string(installed)},
		"in part":                {user: `{"hooks":{"AfterAgent":[{"hooks":[{"type":"command","command":"` + ourHook + `"}]}]}}`, why: "umbra hooks install gemini"},
		"damaged":                {user: "{", why: "umbra hooks install gemini"},
		"off":                    {user: both, why: "hooksConfig in /h/.gemini/settings.json"},
		"off in the project":     {user: string(installed), project: off, why: "hooksConfig in /w/.gemini/settings.json"},
		"off, on in the project": {user: both, project: on},
	} {
		cmd, err := Adapter{}.Launch(sessions.Launch{
			Command: []string{"gemini"}, SessionID: otherID, Hooks: sessions.LaunchHooks{Command: ourHook}, Env: sessions.Environ{Home: "/h"}, Dir: "/w",
			ReadFile: func(name string) ([]byte, error) {
				switch {
				case name == "/h/.gemini/settings.json" && c.user != "":
					return []byte(c.user), nil
				case name == "/w/.gemini/settings.json" && c.project != "":
					return []byte(c.project), nil
				}
				return nil, fs.ErrNotExist
			},
		})
		if err != nil || cmd.Hooked != (c.why == "") || !strings.HasSuffix(cmd.Why, c.why) && !strings.Contains(cmd.Why, c.why) {
			t.Errorf("%s: hooked %t, %q, %v", name, cmd.Hooked, cmd.Why, err)
		}
	}
}
