package opencode

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestLaunch(t *testing.T) {
	for _, c := range []struct {
		command, prompt string
		resume, fresh   bool
		want            string // words joined by |
	}{
		{command: "opencode", want: "opencode"},
		{command: "opencode", resume: true, want: "opencode|--session|ses_1"},
		{command: "opencode -m a/b -s ses_0 dir", resume: true, want: "opencode|--session|ses_1|-m|a/b|dir"},
		{command: "opencode -c --fork --prompt=old", resume: true, want: "opencode|--session|ses_1"},
		{command: "opencode --session=ses_7", want: "opencode|--session=ses_7"},
		{command: "opencode", prompt: "-do it", want: "opencode|--prompt=-do it"},
		{command: "opencode run old words", resume: true, want: "opencode|run|--session|ses_1"},
		{command: "opencode run new words", resume: true, fresh: true, want: "opencode|run|--session|ses_1|--|new|words"},
		{command: "opencode -m a/b run --format json", prompt: `say "it"  now`, want: `opencode|run|-m|a/b|--format|json|--|say "it"  now`},
		{command: "opencode run", prompt: `say "it" now`, want: `opencode|run|--|say|"it"|now`},
		{command: "opencode run", prompt: `is it 1.0 now`, want: `opencode|run|--|is it 1.0 now`},
	} {
		cmd, err := Adapter{}.Launch(sessions.Launch{Command: strings.Fields(c.command), SessionID: "ses_1", Resume: c.resume, Fresh: c.fresh, Prompt: c.prompt})
		if got := strings.Join(cmd.Argv, "|"); err != nil || got != c.want {
			t.Errorf("%q, prompt %q: %s, %v; want %s", c.command, c.prompt, got, err, c.want)
		}
	}
	if cmd, err := (Adapter{}).Launch(sessions.Launch{Command: []string{"opencode", "--session=ses_7"}}); err != nil || cmd.SessionID != "ses_7" {
		t.Errorf("the command's own session is %q, %v", cmd.SessionID, err)
	}
	for _, o := range []sessions.Launch{
		{Command: []string{"opencode", "run", "x"}, Prompt: "y"},
		{Command: []string{"opencode"}, Resume: true, SessionID: "../x"},
	} {
		if cmd, err := (Adapter{}).Launch(o); err == nil {
			t.Errorf("%+v is launched as %q", o, cmd.Argv)
		}
	}
}

func TestLaunchHooks(t *testing.T) {
	launch := func(vars map[string]string, installed []byte, command ...string) sessions.Command {
		t.Helper()
		cmd, err := Adapter{}.Launch(sessions.Launch{
			Command: command, Hooks: sessions.LaunchHooks{Command: ourHook}, SettingsDir: "/s", Env: sessions.Environ{Home: "/h", Vars: vars},
			ReadFile: func(name string) ([]byte, error) {
				if installed != nil && name == "/h/.config/opencode/plugin/umbra.js" {
					return installed, nil
				}
				return nil, errors.New("no such file")
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	cmd := launch(nil, nil, "opencode")
	var config bytes.Buffer
	if !cmd.Hooked || cmd.Env[varFile] != "/s/opencode.json" || len(cmd.Files) != 2 || cmd.Files[1].Write(&config) != nil ||
		config.String() != `{"plugin":["file:///s/plugin/umbra.js"]}` {
		t.Errorf("%+v %s", cmd, &config)
	}
	if cmd := launch(map[string]string{varFile: "/mine"}, nil, "opencode"); !cmd.Hooked || cmd.Env[varDirectory] != "/s" || cmd.Env[varFile] != "" {
		t.Errorf("with a file of the user's: %+v", cmd.Env)
	}
	ours, err := Adapter{}.InstallHooks(nil, ourHook)
	if err != nil {
		t.Fatal(err)
	}
	if cmd := launch(nil, ours, "opencode"); !cmd.Hooked || len(cmd.Files)+len(cmd.Env) > 0 {
		t.Errorf("with the plugin installed: %+v", cmd)
	}
	for why, cmd := range map[string]sessions.Command{
		"--pure":   launch(nil, ours, "opencode", "--pure"),
		"--attach": launch(nil, nil, "opencode", "run", "--attach", "http://x", "hi"),
		"both set": launch(map[string]string{varFile: "/a", varDirectory: "/b"}, nil, "opencode"),
		"serve":    launch(nil, nil, "opencode", "serve"),
	} {
		if cmd.Hooked || !strings.Contains(cmd.Why, why) {
			t.Errorf("%s: hooked %t, %q", why, cmd.Hooked, cmd.Why)
		}
	}
}

// TestServer: Umbra's tools are handed to a launch, with the plugin or where that is
// installed.
func TestServer(t *testing.T) {
	t.Parallel()
	ours, err := Adapter{}.InstallHooks(nil, ourHook)
	if err != nil {
		t.Fatal(err)
	}
	const tools = `"mcp":{"umbra":{"type":"local","command":["/usr/bin/umbra","mcp"]}}}`
	for want, read := range map[string]func(string) ([]byte, error){
		"{" + tools: func(string) ([]byte, error) { return ours, nil },
		`{"plugin":["file:///s/plugin/umbra.js"],` + tools: func(string) ([]byte, error) { return nil, errors.New("no such file") },
	} {
		cmd, err := Adapter{}.Launch(sessions.Launch{
			Command: []string{"opencode"}, Hooks: sessions.LaunchHooks{Command: ourHook}, SettingsDir: "/s", Server: sessions.Server{Command: []string{"/usr/bin/umbra", "mcp"}}, ReadFile: read,
		})
		if err != nil || !cmd.Hooked || cmd.Why != "" || cmd.Env[varFile] != "/s/opencode.json" {
			t.Fatalf("%+v, %v", cmd, err)
		}
		var config bytes.Buffer
		if err := cmd.Files[len(cmd.Files)-1].Write(&config); err != nil || config.String() != want {
			t.Errorf("%s, %v\nwant %s", &config, err, want)
		}
	}
}

func TestPluginFile(t *testing.T) {
	foreign := []byte("export const Umbra = 1\n")
	if out, err := (Adapter{}).InstallHooks(foreign, ourHook); err == nil {
		t.Errorf("another's file becomes %.40q", out)
	}
	if out, remove, err := (Adapter{}).UninstallHooks(foreign); remove || err != nil || !bytes.Equal(out, foreign) {
		t.Errorf("another's file: remove %t, %v", remove, err)
	}
	ours, err := Adapter{}.InstallHooks(nil, `it's "umbra" hook`)
	if err != nil {
		t.Fatal(err)
	}
	if commands, missing, _ := (Adapter{}).HookCommands(ours); len(commands) != 1 || commands[0] != `it's "umbra" hook` || len(missing) > 0 {
		t.Errorf("commands %q, missing %q", commands, missing)
	}
	text, _, _ := bytes.Cut(ours, []byte(plugin().Last))
	text = append(bytes.Clone(text), "// older\n"...)
	older := plugin().Seal(text)
	if commands, missing, _ := (Adapter{}).HookCommands(older); len(commands) != 1 || len(missing) != 1 {
		t.Errorf("of another version: commands %q, missing %q", commands, missing)
	}
}

func TestEventRefused(t *testing.T) {
	for _, in := range []string{
		`{"hook_event_name":"Stop","session_id":"../../x","cwd":"/w"}`, `{"hook_event_name":"Stop","session_id":"ses_1","cwd":"w"}`,
		`{"session_id":"ses_1","cwd":"/w"}`,
	} {
		if e, err := (Adapter{}).Event(sessions.Environ{}, "", []byte(in)); !errors.Is(err, sessions.ErrBadPayload) {
			t.Errorf("%s is %+v, %v", in, e, err)
		}
	}
}

// TestEventOdd: a field of another type costs nothing else.
func TestEventOdd(t *testing.T) {
	e, err := Adapter{}.Event(sessions.Environ{}, "", []byte(`{"hook_event_name":"UserPromptSubmit","session_id":"ses_1","cwd":"/w","prompt":"x","pid":"7","headless":1}`))
	if err != nil || e.Kind != sessions.KindPrompt || e.Prompt != "x" || e.PID != 0 {
		t.Errorf("it is %+v, %v", e, err)
	}
}

// TestEventFailed: a turn that the API refused has ended in an error.
func TestEventFailed(t *testing.T) {
	for in, want := range map[string]string{`"no such model\nat all"`: "no such model", `""`: "the agent's API refused", `null`: "the agent's API refused"} {
		e, err := Adapter{}.Event(sessions.Environ{}, "", []byte(`{"hook_event_name":"StopFailure","session_id":"ses_1","cwd":"/w","error":`+in+`}`))
		if err != nil || e.Kind != sessions.KindError || e.Message != want {
			t.Errorf("with the error %s it is %+v, %v", in, e, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, payload := range lines(fixture(f, "hooks.jsonl")) {
		f.Add(payload)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Adapter{}.Event(sessions.Environ{}, "", b)
		if err != nil {
			if !errors.Is(err, sessions.ErrBadPayload) {
				t.Fatal(err)
			}
			return
		}
		if !isID(e.SessionID) || e.Kind == "" || e.Name == "" {
			t.Fatalf("%+v", e)
		}
	})
}
