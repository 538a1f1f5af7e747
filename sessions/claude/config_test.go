package claude

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func earlier(files map[string]string) *sessions.Config {
	c := &sessions.Config{Read: func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}
	for name := range files {
		c.Names = append(c.Names, name)
	}
	slices.Sort(c.Names)
	c.Changed = c.Names
	return c
}

// TestLaunchWithConfig: what is passed instead of the configuration of now, and
// when it can't be.
func TestLaunchWithConfig(t *testing.T) {
	files := map[string]string{
		"CLAUDE.md": "be brief", "settings.json": `{"model":"old","env":{"A":""},"p":{"proxyPassword":""}}`, "skills/s/SKILL.md": "skill", "hooks/h.sh": "x",
	}
	for _, tt := range []struct {
		name    string
		command []string
		files   map[string]string
		hooks   string
		want    []string // words in this order
		never   string
		why     string
	}{
		{"all of it", []string{"claude", "-p", "--model", "m"}, files, "umbra hook claude || exit 0",
			[]string{"--settings", "/launch/claude-settings.json", "--setting-sources", "project,local", "--mcp-config", "/home/.claude.json", "--add-dir", "/launch/config", "--append-system-prompt", "be brief", "--model", "m"}, "", ""},
		{"without hooks", []string{"claude", "-p"}, files, "", []string{"--settings", "/launch/claude-settings.json", "--setting-sources"}, "", ""},
		{"nothing in it", []string{"claude"}, nil, "", []string{"--setting-sources", "project,local"}, "--add-dir", ""},
		{"a prompt and sources of its own", []string{"claude", "--print", "--append-system-prompt", "mine", "--setting-sources", "user,local"}, files, "",
			[]string{"--setting-sources", "local", "--append-system-prompt", "mine\n\nbe brief"}, "user,local", ""},
		{"its own settings", []string{"claude", "--settings", "{}"}, files, "", []string{"--settings", "{}"}, "--setting-sources", "--settings of its own"},
		{"the user's alone", []string{"claude", "-p", "--setting-sources=user"}, files, "", []string{"--setting-sources=user"}, "be brief", "user's settings alone"},
		{"long instructions", []string{"claude"}, map[string]string{"CLAUDE.md": strings.Repeat("x", mostInstructions+1)}, "", nil, "--setting-sources", "too long"},
		{"a prompt from a file", []string{"claude", "-p", "--append-system-prompt-file", "f"}, files, "", []string{"--append-system-prompt-file", "f"}, "--add-dir", "system prompt of its own"},
		{"on a terminal", []string{"claude"}, files, "", nil, "--setting-sources", "would ask first"},
		{"bare", []string{"claude", "--bare"}, files, "", []string{"--bare"}, "--add-dir", "reads no configuration"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd, err := Adapter{}.Launch(sessions.Launch{
				Command: tt.command, Config: earlier(tt.files), Hooks: sessions.LaunchHooks{Command: tt.hooks}, SettingsDir: "/launch", Dir: "/work", Env: sessions.Environ{Home: "/home"},
				ReadFile: func(name string) ([]byte, error) {
					switch name {
					case "/home/.claude/settings.json":
						return []byte(`{"model":"new","env":{"A":"hush","B":"1"},"p":{"proxyPassword":"hush too"}}`), nil
					case "/home/.claude.json":
						return []byte(`{"mcpServers":{"m":{}}}`), nil
					}
					return nil, fs.ErrNotExist
				},
			})
			if err != nil || cmd.Configured != (tt.why == "") || !strings.Contains(cmd.Unconfigured, tt.why) {
				t.Fatalf("%+v, %v", cmd, err)
			}
			rest := cmd.Argv
			for _, word := range tt.want {
				i := slices.Index(rest, word)
				if i < 0 {
					t.Fatalf("%q is not in %q, or not in this order", word, cmd.Argv)
				}
				rest = rest[i+1:]
			}
			if tt.never != "" && slices.Contains(cmd.Argv, tt.never) {
				t.Errorf("%q is in %q", tt.never, cmd.Argv)
			}
			var placed []string
			for _, f := range cmd.Files {
				var b strings.Builder
				if err := f.Write(&b); err != nil {
					t.Fatal(err)
				}
				placed = append(placed, f.Path)
				if strings.HasSuffix(f.Path, settingsName) && tt.files != nil {
					if s := b.String(); !strings.Contains(s, `"hush"`) || !strings.Contains(s, `"hush too"`) || !strings.Contains(s, `"old"`) || !strings.Contains(s, `"/home/.claude/CLAUDE.md"`) || strings.Contains(s, `"new"`) {
						t.Errorf("settings %s", s)
					}
				}
			}
			if skill := slices.Contains(placed, "/launch/config/.claude/skills/s/SKILL.md"); skill != (tt.why == "" && tt.files != nil) {
				t.Errorf("placed %q", placed)
			}
		})
	}
}

// TestSkillScripts: what could be run then can be run where it is placed, by the user alone.
func TestSkillScripts(t *testing.T) {
	config := earlier(map[string]string{"skills/s/SKILL.md": "run run.sh", "skills/s/run.sh": "#!/bin/sh\n"})
	config.Executable = map[string]bool{"skills/s/run.sh": true}
	cmd, err := Adapter{}.Launch(sessions.Launch{Command: []string{"claude", "-p"}, Config: config, SettingsDir: "/launch", Dir: "/work", Env: sessions.Environ{Home: "/home"}})
	if err != nil || !cmd.Configured {
		t.Fatalf("%+v, %v", cmd, err)
	}
	modes := map[string]fs.FileMode{}
	for _, f := range cmd.Files {
		modes[path.Base(f.Path)] = f.Mode
	}
	if modes["run.sh"] != 0o700 || modes["SKILL.md"] != 0o600 {
		t.Errorf("placed %v", modes)
	}
}

// TestLaunchOverConfig: on a terminal the user's commands, agents and skills are
// read where they are, if they are what they were; else Claude Code would ask.
func TestLaunchOverConfig(t *testing.T) {
	files := map[string]string{"CLAUDE.md": "be brief", "settings.json": `{"model":"old"}`, "commands/checkpoint.md": commandFile, "hooks/h.sh": "x"}
	for _, tt := range []struct {
		name    string
		command []string
		changed []string
		passed  bool
		but     string
		why     string
	}{
		{"instructions", []string{"claude"}, []string{"CLAUDE.md"}, true, "", ""},
		{"settings", []string{"claude"}, []string{"settings.json"}, true, "added since", ""},
		{"neither", []string{"claude"}, []string{"hooks/h.sh"}, false, "", ""},
		{"a new command", []string{"claude"}, []string{"CLAUDE.md", "commands/new.md"}, false, "", "would ask first"},
		{"sources of its own", []string{"claude", "--setting-sources", "project"}, []string{"CLAUDE.md"}, false, "", "would ask first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			config := earlier(files)
			config.Changed = tt.changed
			cmd, err := Adapter{}.Launch(sessions.Launch{
				Command: tt.command, Config: config, Hooks: sessions.LaunchHooks{Command: "umbra hook claude || exit 0"}, SettingsDir: "/launch", Dir: "/work", Env: sessions.Environ{Home: "/home"},
				ReadFile: func(name string) ([]byte, error) {
					if name == "/home/.claude/settings.json" {
						return []byte(`{"model":"new","skipDangerousModePermissionPrompt":true}`), nil
					}
					return nil, fs.ErrNotExist
				},
			})
			if err != nil || cmd.Configured != (tt.why == "") || !strings.Contains(cmd.Unconfigured, tt.why+tt.but) || (tt.why+tt.but == "") != (cmd.Unconfigured == "") {
				t.Fatalf("%+v, %v", cmd, err)
			}
			if own := len(tt.command) == 1; own && slices.Contains(cmd.Argv, "--setting-sources") || slices.Contains(cmd.Argv, "--add-dir") {
				t.Errorf("the user's own are not read: %q", cmd.Argv)
			}
			if passed := slices.Contains(cmd.Argv, "be brief") && len(cmd.Files) == 1; passed != tt.passed {
				t.Fatalf("passed is %q", cmd.Argv)
			}
			if !tt.passed {
				return
			}
			var b strings.Builder
			if err := cmd.Files[0].Write(&b); err != nil {
				t.Fatal(err)
			}
			if s := b.String(); !strings.Contains(s, `"old"`) || !strings.Contains(s, `"/home/.claude/CLAUDE.md"`) || !strings.Contains(s, keyDangerAccepted) {
				t.Errorf("settings %s", s)
			}
		})
	}
}

// TestLaunchWithSecrets: what an earlier configuration is kept without comes from that
// of now, where it still is, and the launch says of what it does not.
func TestLaunchWithSecrets(t *testing.T) {
	secret, newer := strings.Repeat("a7Kq2Zx9", 5), strings.Repeat("b8Lr3Yw0", 5)
	const left = "[umbra-left-out:secret]"
	now := map[string]string{
		"CLAUDE.md":          "be quick\nexport TOKEN=" + secret + "\n",
		"settings.json":      `{"model":"new","statusLine":{"command":"run --token ` + newer + `"}}`,
		"skills/s/run.sh":    "curl -H 'X-Api-Key: " + secret + "'\n",
		"skills/t/run.sh":    "curl -H 'X-Api-Key: " + secret + "' elsewhere\n",
		"skills/u/SKILL.txt": "nothing",
	}
	then := map[string]string{
		"CLAUDE.md":       "be brief\n\nexport TOKEN=" + left + "\n",
		"settings.json":   `{"model":"old","statusLine":{"command":"run --token ` + left + `"}}`,
		"skills/s/run.sh": "# first\ncurl -H 'X-Api-Key: " + left + "'\n",
		"skills/t/run.sh": "curl -H 'X-Api-Key: " + left + "' https://here\n",
	}
	cmd, err := Adapter{}.Launch(sessions.Launch{
		Command: []string{"claude", "-p"}, Config: earlier(then), SettingsDir: "/launch", Dir: "/work", Env: sessions.Environ{Home: "/home"},
		ReadFile: func(name string) ([]byte, error) {
			if text, ok := now[strings.TrimPrefix(name, "/home/.claude/")]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
	})
	if err != nil || !cmd.Configured || !strings.Contains(cmd.Unconfigured, "CLAUDE.md, skills/s/run.sh, skills/t/run.sh had") {
		t.Fatalf("%t, %q, %v", cmd.Configured, cmd.Unconfigured, err)
	}
	if !slices.Contains(cmd.Argv, then["CLAUDE.md"]) {
		t.Errorf("%q", cmd.Argv)
	}
	for _, f := range cmd.Files {
		var b strings.Builder
		if err := f.Write(&b); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Path, settingsName) != strings.Contains(b.String(), newer) || strings.Contains(b.String(), secret) {
			t.Errorf("%s is %s", f.Path, b.String())
		}
	}
	now["CLAUDE.md"] = strings.Replace(now["CLAUDE.md"], "quick", "brief", 1)
	now["skills/s/run.sh"] = "# first\n" + now["skills/s/run.sh"] + "# last\n"
	delete(then, "skills/t/run.sh")
	cmd, err = Adapter{}.Launch(sessions.Launch{
		Command: []string{"claude", "-p"}, Config: earlier(then), SettingsDir: "/launch", Dir: "/work", Env: sessions.Environ{Home: "/home"},
		ReadFile: func(name string) ([]byte, error) { return []byte(now[strings.TrimPrefix(name, "/home/.claude/")]), nil },
	})
	if err != nil || !cmd.Configured || cmd.Unconfigured != "" || !slices.Contains(cmd.Argv, "be brief\n\nexport TOKEN="+secret+"\n") {
		t.Fatalf("%t, %q, %q, %v", cmd.Configured, cmd.Unconfigured, cmd.Argv, err)
	}
}

// TestLaunchWithSecretsInLists: which entry of a list a secret is of tells only what is
// beside it: it comes back where nothing there has changed, else the launch says so.
func TestLaunchWithSecretsInLists(t *testing.T) {
	hook := func(url string) string {
		return `{"model":"old","hooks":{"Stop":[{"hooks":[{"url":"` + url + `","headers":{"Authorization":"hush"}},{"headers":["X-Key: hush"]}]}]}}`
	}
	then, err := Adapter{}.CleanConfig(userSettings, []byte(hook("https://a")))
	if err != nil || strings.Contains(string(then), "hush") {
		t.Fatalf("%s, %v", then, err)
	}
	for url, same := range map[string]bool{"https://a": true, "https://b": false} {
		now := strings.Replace(hook(url), "old", "new", 1)
		cmd, err := Adapter{}.Launch(sessions.Launch{
			Command: []string{"claude", "-p"}, Config: earlier(map[string]string{userSettings: string(then)}), SettingsDir: "/launch", Dir: "/work", Env: sessions.Environ{Home: "/home"},
			ReadFile: func(name string) ([]byte, error) {
				if strings.HasSuffix(name, userSettings) {
					return []byte(now), nil
				}
				return nil, fs.ErrNotExist
			},
		})
		if err != nil || !cmd.Configured || strings.Contains(cmd.Unconfigured, userSettings) == same {
			t.Fatalf("%s: %t, %q, %v", url, cmd.Configured, cmd.Unconfigured, err)
		}
		for _, f := range cmd.Files {
			var b strings.Builder
			if err := f.Write(&b); err != nil {
				t.Fatal(err)
			}
			if text := b.String(); strings.HasSuffix(f.Path, settingsName) && (strings.Contains(text, `"Authorization": "hush"`) != same || strings.Contains(text, "X-Key: hush") != same || !strings.Contains(text, `"old"`)) {
				t.Errorf("%s: %s", url, text)
			}
		}
	}
}
