package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestRuns(t *testing.T) {
	for in, want := range map[string]bool{
		"claude": true, "/usr/local/bin/claude -p x": true, "claude.exe": true, "codex": false, "": false, "claude-monitor": false,
		"node /x/node_modules/@anthropic-ai/claude-code/cli.js -p": true, "node --no-warnings /bin/claude": true, "node server.js claude": false,
		"bash -c claude": false, "node": false,
	} {
		if got := (Adapter{}).Runs(strings.Fields(in)); got != want {
			t.Errorf("Runs(%q) = %t", in, got)
		}
	}
}

// TestLaunchArguments pins what becomes of a user's command; ID is the id given.
func TestLaunchArguments(t *testing.T) {
	for _, c := range []struct {
		name, command, prompt string
		resume                bool
		want, session         string
	}{
		{"new", "claude", "", false, "claude --session-id ID", idB},
		{"new with a prompt", "claude", "fix it", false, "claude --session-id ID -- fix·it", idB},
		{"prompt with a dash", "claude -p", "-v is wrong", false, "claude --session-id ID -p -- -v·is·wrong", idB},
		{"prompt named like a subcommand", "claude", "doctor", false, "claude --session-id ID -- doctor·", idB},
		{"user's own prompt", "claude -p do·it --model opus", "", false, "claude --session-id ID -p --model opus -- do·it", idB},
		{"user's own prompt behind --", "claude --add-dir a b -- -x", "", false, "claude --session-id ID --add-dir a b -- -x", idB},
		{"user's own id", "claude --session-id " + idA, "", false, "claude --session-id " + idA, idA},
		{"user resumes", "claude --resume " + idA, "", false, "claude --resume " + idA, idA},
		{"user resumes by name", "claude -r topic", "", false, "claude -r topic", ""},
		{"user continues", "claude -c", "", false, "claude -c", ""},
		{"user forks", "claude --resume=" + idA + " --fork-session", "", false, "claude --resume=" + idA + " --fork-session", ""},
		{"elsewhere", "claude --cloud task", "", false, "claude --cloud task", ""},
		{"resume", "claude", "", true, "claude --resume ID", idB},
		{"resume with a prompt", "claude -p", "go on", true, "claude --resume ID -p -- go·on", idB},
		{"resume a resumed", "claude --resume " + idA + " --model opus", "", true, "claude --resume ID --model opus", idB},
		{"resume what had an id", "claude --session-id=" + idA + " -p first·prompt --verbose", "", true, "claude --resume ID -p --verbose", idB},
		{"resume what continued", "claude -pc x", "", true, "claude --resume ID -p", idB},
		{"resume short attached", "claude -r" + idA + " -d hooks", "", true, "claude --resume ID -d hooks", idB},
		{"resume what forked", "claude --continue --fork-session --allowedTools Bash Read --model sonnet", "", true, "claude --resume ID --allowedTools Bash Read --model sonnet", idB},
		{"values that look like prompts", "claude --append-system-prompt -be·brief --permission-mode plan --add-dir /a /b --debug api --worktree -c", "", true,
			"claude --resume ID --append-system-prompt -be·brief --permission-mode plan --add-dir /a /b --debug api --worktree", idB},
		{"node", "node --x /p/claude-code/cli.js -p hi", "", true, "node --x /p/claude-code/cli.js --resume ID -p", idB},
		{"subcommand", "claude mcp list", "", true, "claude mcp list", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			words := func(s string) []string {
				out := strings.Fields(strings.ReplaceAll(s, "ID", idB))
				for i := range out {
					out[i] = strings.ReplaceAll(out[i], "·", " ")
				}
				return out
			}
			given := words(c.command)
			cmd, err := Adapter{}.Launch(sessions.Launch{Command: given, SessionID: idB, Resume: c.resume, Prompt: c.prompt})
			if err != nil {
				t.Fatal(err)
			}
			if want := words(c.want); !slices.Equal(cmd.Argv, want) || cmd.SessionID != c.session || cmd.Hooked || len(cmd.Files) > 0 {
				t.Errorf("got %q, session %q\nwant %q", cmd.Argv, cmd.SessionID, want)
			}
			if !slices.Equal(given, words(c.command)) {
				t.Errorf("the given command became %q", given)
			}
		})
	}
}

// TestWithoutWorktree: a fork's agent works where it is started.
func TestWithoutWorktree(t *testing.T) {
	for given, want := range map[string]string{
		"claude -w nat -p hi":                           "claude -p -- hi",
		"claude -pw nat --model opus":                   "claude -p --model opus",
		"claude --worktree=nat --tmux=classic":          "claude",
		"claude --add-dir /a -w nat prompt -- -w":       "claude --add-dir /a -- prompt -w",
		"node /p/claude-code/cli.js -wnat -c":           "node /p/claude-code/cli.js -c",
		"claude --model opus do -- it":                  "claude --model opus do -- it",
		"claude --append-system-prompt -w --worktree":   "claude --append-system-prompt -w",
		"other -w nat":                                  "other -w nat",
		"claude --resume " + idA + " --worktree nat -v": "claude --resume " + idA + " -v",
	} {
		if got := (Adapter{}).WithoutWorktree(strings.Fields(given)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s became %q, want %s", given, got, want)
		}
	}
}

// TestLaunchMarks: what tells a launch's hooks apart is in its settings too, beside what
// the user's set, so that a background session has it from the session it comes from.
func TestLaunchMarks(t *testing.T) {
	for given, want := range map[string]map[string]string{
		"claude": {"UMBRA_MISSION": "m2"},
		`claude --settings {"model":"x","env":{"A":"1","UMBRA_MISSION":"m1"}}`: {"A": "1", "UMBRA_MISSION": "m2"},
		`claude --settings {"env":null}`:                                       nil,
	} {
		cmd, err := Adapter{}.Launch(sessions.Launch{Command: strings.Fields(given), Hooks: sessions.LaunchHooks{Command: ourHook}, Marks: map[string]string{"UMBRA_MISSION": "m2"}})
		var passed struct {
			Env   map[string]string `json:"env"`
			Hooks map[string]any    `json:"hooks"`
		}
		if err != nil || json.Unmarshal(passedSettings(t, cmd, false), &passed) != nil || !maps.Equal(passed.Env, want) || len(passed.Hooks) == 0 {
			t.Errorf("%s: %+v, %v", given, passed, err)
		}
	}
}

// TestLaunchAgain begins a new session with a command whose prompt was sent long
// ago: it is not sent again, unless the command is fresh.
func TestLaunchAgain(t *testing.T) {
	for _, fresh := range []bool{false, true} {
		got, err := Adapter{}.Launch(sessions.Launch{Command: []string{"claude", "--model", "opus", "go on"}, SessionID: idB, Again: true, Fresh: fresh})
		if want := []string{"claude", "--session-id", idB, "--model", "opus"}; err != nil || !fresh && !slices.Equal(got.Argv, want) || fresh && got.Argv[len(got.Argv)-1] != "go on" {
			t.Errorf("fresh %t: %q %v", fresh, got.Argv, err)
		}
	}
}

// TestLaunchFresh resumes with a command given just now: its prompt is the next.
func TestLaunchFresh(t *testing.T) {
	cmd, err := Adapter{}.Launch(sessions.Launch{
		Command: []string{"claude", "-p", "go on", "--continue"}, SessionID: idB, Resume: true, Fresh: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"claude", "--resume", idB, "-p", "--", "go on"}; !slices.Equal(cmd.Argv, want) {
		t.Errorf("got %q\nwant %q", cmd.Argv, want)
	}
}

func TestLaunchErrors(t *testing.T) {
	for _, o := range []sessions.Launch{
		{},
		{Command: []string{"claude", "one"}, SessionID: idB, Resume: true, Fresh: true, Prompt: "two"},
		{Command: []string{"codex"}},
		{Command: []string{"claude"}, Resume: true},
		{Command: []string{"claude"}, Resume: true, SessionID: "topic"},
		{Command: []string{"claude"}, SessionID: "topic"},
		{Command: []string{"claude", "one"}, Prompt: "two"},
	} {
		if cmd, err := (Adapter{}).Launch(o); err == nil {
			t.Errorf("%+v: %q", o, cmd.Argv)
		}
	}
}

func TestLaunchHooks(t *testing.T) {
	const user = `{"env":{"TOKEN":"x"},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`
	files := map[string]string{
		"/w/mine.json": user, "/w/bad.json": "{ // c\n}", "/w/off.json": `{"disableAllHooks":true}`,
	}
	for _, c := range []struct {
		name, command, settings string // settings: what a settings file of that name holds besides
		why                     string
		file                    bool
		keeps                   string // the user's settings that must still be in what is passed
	}{
		{"none", "claude -p", "", "", false, `{}`},
		{"inline", "claude --settings " + user + " -p", "", "", false, user},
		{"file", "claude --settings /w/mine.json", "", "", true, user},
		{"relative file", "claude --settings=mine.json", "", "", true, user},
		{"missing file", "claude --settings gone.json", "", "read --settings: ", false, ""},
		{"comments", "claude --settings bad.json", "", "not plain JSON", false, ""},
		{"two", "claude --settings {} --settings {}", "", "--settings 2 times", false, ""},
		{"switched off", "claude --settings off.json", "", "disableAllHooks in --settings", false, ""},
		{"switched off by the user", "claude", "/h/.claude/settings.json", "disableAllHooks in /h/.claude/settings.json", false, ""},
		{"switched off in the project", "claude", "/w/.claude/settings.local.json", "disableAllHooks in /w/.claude/settings.local.json", false, ""},
		{"switched on again", `claude --settings {"disableAllHooks":false}`, "/h/.claude/settings.json", "", false, `{"disableAllHooks":false}`},
		{"bare", "claude --bare", "", "no hooks with --bare", false, ""},
		{"subcommand", "claude doctor", "", "claude doctor runs no session", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd, err := Adapter{}.Launch(sessions.Launch{
				Command: strings.Fields(c.command), Hooks: sessions.LaunchHooks{Command: ourHook}, SettingsDir: "/u/launch", Dir: "/w", Env: sessions.Environ{Home: "/h"},
				ReadFile: func(name string) ([]byte, error) {
					if name == c.settings {
						return []byte(`{"disableAllHooks":true}`), nil
					}
					if b, ok := files[name]; ok {
						return []byte(b), nil
					}
					return nil, fs.ErrNotExist
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.why != "" {
				if cmd.Hooked || !strings.Contains(cmd.Why, c.why) || len(cmd.Files) > 0 || !slices.Equal(cmd.Argv, strings.Fields(c.command)) {
					t.Errorf("hooked %t, why %q, %q", cmd.Hooked, cmd.Why, cmd.Argv)
				}
				return
			}
			passed := passedSettings(t, cmd, c.file)
			if !cmd.Hooked || cmd.Why != "" {
				t.Errorf("not hooked: %q", cmd.Why)
			}
			checkAdded(t, []byte(c.keeps), passed)
		})
	}
	cmd, err := Adapter{}.Launch(sessions.Launch{Command: []string{"claude", "--settings", "x.json"}, Hooks: sessions.LaunchHooks{Command: ourHook}, ReadFile: func(string) ([]byte, error) { return []byte("{}"), nil }})
	if err != nil || cmd.Hooked || cmd.Why == "" {
		t.Errorf("a file without a place for it: %+v, %v", cmd, err)
	}
	cmd, err = Adapter{}.Launch(sessions.Launch{Command: []string{"claude", "--settings", "x.json"}, Hooks: sessions.LaunchHooks{Command: ourHook}, ReadFile: func(string) ([]byte, error) { return nil, errors.New("denied") }})
	if err != nil || cmd.Hooked || !strings.Contains(cmd.Why, "denied") {
		t.Errorf("an unreadable file: %+v, %v", cmd, err)
	}
}

// passedSettings is the one --settings of a command line.
func passedSettings(t *testing.T, cmd sessions.Command, file bool) []byte {
	t.Helper()
	var values []string
	for _, a := range grammar().Parse(cmd.Argv[1:]) {
		if a.Name == "--settings" {
			values = append(values, a.Values...)
		}
	}
	if len(values) != 1 || file != (len(cmd.Files) == 1) {
		t.Fatalf("settings %q, %d files", values, len(cmd.Files))
	}
	if !file {
		return []byte(values[0])
	}
	f := cmd.Files[0]
	if values[0] != f.Path || !strings.HasPrefix(f.Path, "/u/launch/") || f.Mode != 0o600 {
		t.Errorf("file %s with mode %o, passed %s", f.Path, f.Mode, values[0])
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestLaunchSameHooks: the hooks given to a launch and those installed are the
// same bytes where Claude Code compares them, so that it runs them once.
func TestLaunchSameHooks(t *testing.T) {
	cmd, err := Adapter{}.Launch(sessions.Launch{Command: []string{"claude"}, Hooks: sessions.LaunchHooks{Command: ourHook}})
	if err != nil {
		t.Fatal(err)
	}
	var given, installed struct{ Hooks any }
	if err := json.Unmarshal(passedSettings(t, cmd, false), &given); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(install(t, nil, ourHook), &installed); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(given, installed) {
		t.Errorf("given %v, installed %v", given, installed)
	}
}
