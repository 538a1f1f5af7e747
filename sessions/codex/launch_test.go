package codex

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/umbra-vcs/umbra/sessions"
)

func words(s string) []string { return strings.Split(s, "|") }

// TestLaunchWords: which words a command line becomes. "|" parts them.
func TestLaunchWords(t *testing.T) {
	for _, c := range []struct {
		command string
		o       sessions.Launch
		want    string
		session string
	}{
		{"codex", sessions.Launch{SessionID: idA}, "codex", ""},
		{"codex|-m|x", sessions.Launch{Prompt: "-go resume"}, "codex|-m|x|--|-go resume", ""},
		{"codex|fix it", sessions.Launch{}, "codex|--|fix it", ""},
		{"codex|-m|x|fix it", sessions.Launch{SessionID: idA, Resume: true}, "codex|-m|x|resume|" + idA, idA},
		{"codex|fix it", sessions.Launch{SessionID: idA, Resume: true, Fresh: true}, "codex|resume|" + idA + "|--|fix it", idA},
		{"codex|exec|--json|-m|x|fix it", sessions.Launch{SessionID: idA, Resume: true, Prompt: "more"}, "codex|exec|--json|-m|x|resume|" + idA + "|--|more", idA},
		{"codex|-c|a=b|e|--json|-|", sessions.Launch{}, "codex|-c|a=b|exec|--json|--|-|", ""},
		{"codex|exec|resume|--last|more", sessions.Launch{}, "codex|exec|resume|--last|--|more", ""},
		{"codex|resume|--last|-m|x", sessions.Launch{}, "codex|resume|--last|-m|x", ""},
		{"codex|-i|a.png|--|look", sessions.Launch{SessionID: idA, Resume: true}, "codex|resume|" + idA, idA},
		{"codex|-i|a.png|-m|x|--|look", sessions.Launch{SessionID: idA, Resume: true, Fresh: true}, "codex|-m|x|resume|" + idA + "|-i|a.png|--|look", idA},
		{"codex|exec|resume|" + idB + "|more", sessions.Launch{}, "codex|exec|resume|" + idB + "|--|more", idB},
		{"codex|exec|resume|" + idB + "|more", sessions.Launch{SessionID: idA, Resume: true}, "codex|exec|resume|" + idA, idA},
		{"codex|resume|" + idB + "|-C|/p|--all|--worktree", sessions.Launch{SessionID: idA, Resume: true}, "codex|resume|" + idA, idA},
		{"codex|fork|" + idB, sessions.Launch{}, "codex|fork|" + idB, ""},
		{"codex|fork|" + idB, sessions.Launch{SessionID: idA, Resume: true}, "codex|resume|" + idA, idA},
		{"codex|--|exec", sessions.Launch{}, "codex|exec", ""},
		{"codex|-i|a.png|b.png|-m|x|look", sessions.Launch{}, "codex|-i|a.png|b.png|-m|x|--|look", ""},
		{"node|/x/node_modules/@openai/codex/bin/codex.js|exec|go", sessions.Launch{SessionID: idA, Resume: true}, "node|/x/node_modules/@openai/codex/bin/codex.js|exec|resume|" + idA, idA},
	} {
		c.o.Command = words(c.command)
		cmd, err := Adapter{}.Launch(c.o)
		if err != nil || strings.Join(cmd.Argv, "|") != c.want || cmd.SessionID != c.session {
			t.Errorf("%s became %s, session %q, %v; want %s", c.command, strings.Join(cmd.Argv, "|"), cmd.SessionID, err, c.want)
		}
	}
	for _, command := range []string{"codex|login", "codex|mcp|list", "codex|exec|review", "codex|--version", "codex|app-server"} {
		cmd, err := Adapter{}.Launch(sessions.Launch{Command: words(command), Hooks: sessions.LaunchHooks{Command: ourHook}})
		if err == nil && (cmd.Hooked || cmd.Why == "" || !slices.Equal(cmd.Argv, words(command))) || err != nil && command != "codex|app-server" {
			t.Errorf("%s: %+v, %v", command, cmd, err)
		}
	}
	for _, o := range []sessions.Launch{
		{Command: words("codex|go"), Prompt: "more"}, {Command: words("codex"), Resume: true, SessionID: "x"}, {Command: words("vim")}, {},
	} {
		if cmd, err := (Adapter{}).Launch(o); err == nil {
			t.Errorf("%+v is launched by %q", o, cmd.Argv)
		}
	}
}

// TestEarlierConfig: Codex can't be started with a configuration as it was, and
// says so.
func TestEarlierConfig(t *testing.T) {
	cmd, err := Adapter{}.Launch(sessions.Launch{Command: words("codex"), Config: &sessions.Config{}})
	if err != nil || cmd.Configured || cmd.Unconfigured == "" {
		t.Errorf("%+v, %v", cmd, err)
	}
}

func TestRuns(t *testing.T) {
	for command, want := range map[string]bool{
		"codex": true, "/usr/bin/codex|exec|x": true, "node|/x/@openai/codex/bin/codex.js": true, "node|/x/bin/codex": true,
		"/h/.codex/packages/app-server-daemon/bin/codex|app-server|--listen|unix://": false, "claude": false, "codex-tool": false,
	} {
		if got := (Adapter{}).Runs(words(command)); got != want {
			t.Errorf("%s: %t", command, got)
		}
	}
}

// TestLaunchHooks: hooks that are installed and trusted are relied on; else the
// launch has what Codex can be handed, and says what is missing.
func TestLaunchHooks(t *testing.T) {
	installed, err := Adapter{}.InstallHooks(nil, ourHook)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(installed), `"timeout": 3`); n != 2 {
		t.Errorf("%d hooks have the time that Codex allows the end of a session or turn: %s", n, installed)
	}
	var trusted strings.Builder
	for _, event := range shape().Events {
		trusted.WriteString("[hooks.state.\"/h/.codex/hooks.json:" + snake(event) + ":0:0\"]\ntrusted_hash = \"sha256:00\"\n")
	}
	for name, c := range map[string]struct {
		command string
		files   map[string]string
		hooked  bool
		why     string
		argv    string // what comes before the user's
	}{
		"nothing installed":  {"codex", nil, false, "umbra hooks install codex", `codex|--config|notify=["/bin/sh","-c","printf %s \"$1\" | ` + ourHook + `","umbra"]|--no-daemon`},
		"not trusted":        {"codex|exec", map[string]string{"hooks.json": string(installed)}, false, "/hooks", `codex|--config|notify=["/bin/sh","-c","printf %s \"$1\" | ` + ourHook + `","umbra"]|exec`},
		"trusted in part":    {"codex|exec", map[string]string{"hooks.json": string(installed), "config.toml": trusted.String()[:200]}, false, "/hooks", `codex|--config|notify=["/bin/sh","-c","printf %s \"$1\" | ` + ourHook + `","umbra"]|exec`},
		"trusted":            {"codex", map[string]string{"hooks.json": string(installed), "config.toml": trusted.String()}, true, "", "codex|--no-daemon"},
		"trusted unseen":     {"codex|exec|--dangerously-bypass-hook-trust", map[string]string{"hooks.json": string(installed)}, true, "", "codex|exec|--dangerously-bypass-hook-trust"},
		"the user's notify":  {"codex|exec", map[string]string{"config.toml": "notify = [\"beep\"]\n[features]\n"}, false, "umbra hooks install codex", "codex|exec"},
		"one in the command": {"codex|exec|-c|notify=[\"beep\"]", nil, false, "umbra hooks install codex", "codex|exec|-c|notify=[\"beep\"]"},
		"switched off":       {"codex|exec|-c|notify=[]", map[string]string{"hooks.json": string(installed), "config.toml": "[features]\nhooks = false # no\n" + trusted.String()}, false, "switched off", "codex|exec|-c|notify=[]"},
		"off in a table":     {"codex|exec|-c|notify=[]", map[string]string{"hooks.json": string(installed), "config.toml": "features = { web = true, codex_hooks = false }\n" + trusted.String()}, false, "switched off", "codex|exec|-c|notify=[]"},
		"on again":           {"codex|exec|--enable|hooks", map[string]string{"hooks.json": string(installed), "config.toml": "features.hooks = false\n" + trusted.String()}, true, "", "codex|exec|--enable|hooks"},
		"disabled":           {"codex|--disable|hooks|exec|-c|notify=[]", map[string]string{"hooks.json": string(installed), "config.toml": trusted.String()}, false, "by --disable hooks", "codex|--disable|hooks|exec|-c|notify=[]"},
		"overridden":         {"codex|exec|-c|features.hooks=false|-c|notify=[]", map[string]string{"hooks.json": string(installed), "config.toml": trusted.String()}, false, "by --config features.hooks=false", "codex|exec|-c|features.hooks=false|-c|notify=[]"},
		"overridden back":    {"codex|exec|-c|features.hooks = true", map[string]string{"hooks.json": string(installed), "config.toml": "features.hooks = false\n" + trusted.String()}, true, "", "codex|exec|-c|features.hooks = true"},
		"another feature":    {"codex|exec|--disable|web|-c|features.x=false", map[string]string{"hooks.json": string(installed), "config.toml": trusted.String()}, true, "", "codex|exec|--disable|web|-c|features.x=false"},
		"one of them off":    {"codex|exec|--dangerously-bypass-hook-trust|-c|notify=[]", map[string]string{"hooks.json": string(installed), "config.toml": strings.Replace(trusted.String(), ":stop:0:0\"]\n", ":stop:0:0\"]\nenabled = false\n", 1)}, false, "hooks of Stop", "codex|exec|--dangerously-bypass-hook-trust|-c|notify=[]"},
		"no configuration":   {"codex|exec|--ignore-user-config|-c|notify=[]", map[string]string{"hooks.json": string(installed), "config.toml": trusted.String()}, false, "--ignore-user-config", "codex|exec|--ignore-user-config|-c|notify=[]"},
		"no conversation":    {"codex|exec|--ephemeral|-c|notify=[]", map[string]string{"hooks.json": string(installed), "config.toml": trusted.String()}, false, "--ephemeral", "codex|exec|--ephemeral|-c|notify=[]"},
		"its version":        {"codex|--version", nil, false, "codex --version runs no session", "codex|--version"},
		"its help":           {"codex|-h", nil, false, "codex --help runs no session", "codex|-h"},
		"a server elsewhere": {"codex|--remote|unix://|-c|notify=[]", nil, false, "umbra hooks install codex", "codex|--remote|unix://|-c|notify=[]"},
	} {
		read := func(path string) ([]byte, error) {
			if text, ok := c.files[strings.TrimPrefix(path, "/h/.codex/")]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		}
		cmd, err := Adapter{}.Launch(sessions.Launch{Command: words(c.command), Hooks: sessions.LaunchHooks{Command: ourHook}, Env: sessions.Environ{Home: "/h"}, ReadFile: read})
		if err != nil || cmd.Hooked != c.hooked || !strings.Contains(cmd.Why, c.why) || cmd.Hooked == (cmd.Why != "") || strings.Join(cmd.Argv, "|") != c.argv {
			t.Errorf("%s: hooked %t, %q, %v, by\n%s\nwant\n%s", name, cmd.Hooked, cmd.Why, err, strings.Join(cmd.Argv, "|"), c.argv)
		}
	}
	unreadable := func(string) ([]byte, error) { return nil, errors.New("no") }
	for link, said := range map[string]bool{"gitdir: /w/.git/worktrees/side\n": true, "gitdir: ../.git/modules/sub\n": false, "": false} {
		files := map[string]string{"/side/.codex/hooks.json": "{}", "/side/.git": link}
		why := (Adapter{}).Distrusted(sessions.Environ{Home: "/h"}, "/side/.codex/hooks.json", func(name string) ([]byte, error) {
			if files[name] == "" {
				return nil, fs.ErrNotExist
			}
			return []byte(files[name]), nil
		})
		if strings.Contains(why, "of the main worktree") != said {
			t.Errorf("hooks beside a .git of %q: %q", link, why)
		}
	}
	if why := (Adapter{}).Distrusted(sessions.Environ{Home: "/h"}, "/h/.codex/hooks.json", unreadable); why != "" {
		t.Errorf("what can't be read is distrusted: %s", why)
	}
}

// TestServer: Umbra's tools are handed to a launch as TOML that Codex reads.
func TestServer(t *testing.T) {
	t.Parallel()
	cmd, err := Adapter{}.Launch(sessions.Launch{
		Command: words("codex|exec|go"), Marks: map[string]string{"UMBRA_MISSION": "m", "UMBRA_HOME": "/h"}, Server: sessions.Server{
			Command:   []string{"/usr/bin/umbra \"x\"", "mcp"},
			Variables: []string{"PATH", "MY_KEY", "UMBRA_MISSION", "BASH_FUNC_f%%", `a"b\c`, "no\x7fTOML", "PATH"},
		},
	})
	if err != nil || len(cmd.Argv) != 6 || cmd.Argv[1] != "--config" || cmd.Argv[3] != "exec" {
		t.Fatalf("%q, %v", cmd.Argv, err)
	}
	var read struct {
		Servers map[string]struct {
			Command string            `toml:"command"`
			Args    []string          `toml:"args"`
			Env     map[string]string `toml:"env"`
			Passed  []string          `toml:"env_vars"`
		} `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal([]byte(cmd.Argv[2]), &read); err != nil {
		t.Fatalf("%s: %v", cmd.Argv[2], err)
	}
	got := read.Servers["umbra"]
	if got.Command != `/usr/bin/umbra "x"` || !slices.Equal(got.Args, []string{"mcp"}) || got.Env["UMBRA_MISSION"] != "m" || got.Env["UMBRA_HOME"] != "/h" {
		t.Errorf("%+v", got)
	}
	// What is said is not passed on as well, and nothing makes it no TOML.
	if want := []string{"BASH_FUNC_f%%", "CODEX_HOME", "MY_KEY", "PATH", "UMBRA_NO_DAEMON", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", `a"b\c`}; !slices.Equal(got.Passed, want) {
		t.Errorf("%q are passed on, not %q", got.Passed, want)
	}
}
