package claude

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/umbra-vcs/umbra/scripts/draws"
	"github.com/umbra-vcs/umbra/sessions"
)

const ourHook = "/home/u/go/bin/umbra hook claude || exit 0"

// settingsCases are files that people and Claude Code write; each must come back
// to the byte.
var settingsCases = []string{
	"{}", "{}\n", "{\n}\n", "{ }", "{\n\n}", "\n{\n}\n",
	"{\n  \"model\": \"opus\"\n}\n",
	"{\r\n    \"model\": \"opus\"\r\n}\r\n",
	"{\n\t\"a\": [1, 2,3],\n\t\"b\": {\"x\":null}\n}",
	`{"model":"opus","permissions":{"allow":["Bash(ls:*)"]}}`,
	`{"hooks":{}}`, `{"hooks": {}, "z": 1}`, "{\n  \"hooks\": {},\n  \"z\": 1\n}\n",
	"{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
	"{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"notify-send done\" }\n        ]\n      }\n    ],\n    \"BrandNew\": [{\"hooks\":[]}]\n  },\n  \"statusLine\": { \"type\": \"command\", \"command\": \"x\" }\n}\n",
	`{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo \"hook claude\" umbra"}]}]}}`,
	"{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"a\"}]}]}\n}\n",
	"{\"dup\":1,\"dup\":2,\"u\":\"\\u00e9\\/\",\"n\":1e400}",
}

func install(t interface{ Fatalf(string, ...any) }, in []byte, command string) []byte {
	out, err := Adapter{}.InstallHooks(in, command)
	if err != nil {
		t.Fatalf("install into %q: %v", in, err)
	}
	if _, missing, err := (Adapter{}).HookCommands(out); err != nil || len(missing) > 0 {
		t.Fatalf("installed into %q: %v missing, %v: %s", in, missing, err, out)
	}
	return out
}

func checkRoundTrip(t interface{ Fatalf(string, ...any) }, in []byte) {
	out := install(t, in, ourHook)
	if again := install(t, out, ourHook); !bytes.Equal(again, out) {
		t.Fatalf("installed twice into %q\n%s\n%s", in, out, again)
	}
	back, remove, err := Adapter{}.UninstallHooks(out)
	if err != nil || remove || !bytes.Equal(back, in) {
		t.Fatalf("%q came back as %q, remove %t, %v\n%s", in, back, remove, err, out)
	}
	moved := install(t, out, "'/opt/my bin/umbra' hook claude")
	if bytes.Contains(moved, []byte("go/bin")) {
		t.Fatalf("the old command stayed in %s", moved)
	}
	if back, _, err := (Adapter{}).UninstallHooks(moved); err != nil || !bytes.Equal(back, in) {
		t.Fatalf("%q came back as %q from another umbra's, %v", in, back, err)
	}
	checkAdded(t, in, out)
}

// checkAdded: what is added is Umbra's hooks, last in their lists, and nothing
// else, as a JSON parse sees it.
func checkAdded(t interface{ Fatalf(string, ...any) }, in, out []byte) {
	var before, after map[string]any
	for b, v := range map[*[]byte]*map[string]any{&in: &before, &out: &after} {
		d := json.NewDecoder(bytes.NewReader(*b))
		d.UseNumber()
		if err := d.Decode(v); err != nil {
			t.Fatalf("not JSON: %v: %s", err, *b)
		}
	}
	hooks, _ := before["hooks"].(map[string]any)
	if hooks == nil {
		hooks = map[string]any{}
	}
	for _, event := range shape().Events {
		group := map[string]any{"hooks": []any{map[string]any{"type": "command", "command": ourHook, "timeout": json.Number("15")}}}
		if strings.HasSuffix(event, "ToolUse") {
			group["matcher"] = untold
		}
		list, _ := hooks[event].([]any)
		hooks[event] = append(list, group)
	}
	before["hooks"] = hooks
	if !reflect.DeepEqual(before, after) {
		t.Fatalf("installed %v\nwant %v", after, before)
	}
}

// TestUntoldToolsOnlyRead: no hook is left out for a tool that can write or ask, and hooks of
// before get the tools of now, but for a group that has a hook of its user's.
func TestUntoldToolsOnlyRead(t *testing.T) {
	names, ok := strings.CutSuffix(strings.TrimPrefix(untold, "^(?!("), ")$)")
	if !ok {
		t.Fatalf("%s is of another form", untold)
	}
	for _, name := range strings.Split(names, "|") {
		if !readers[name] || asks[name] {
			t.Errorf("%s may write or ask", name)
		}
	}
	now, err := Adapter{}.InstallHooks(nil, ourHook)
	if err != nil {
		t.Fatal(err)
	}
	before := bytes.ReplaceAll(now, []byte(untold), []byte("*"))
	if again, err := (Adapter{}).InstallHooks(before, ourHook); err != nil || !bytes.Equal(again, now) {
		t.Errorf("%v: %s", err, again)
	}
	shared := []byte(`{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"mine"},{"type":"command","command":"` + ourHook + `"}]}]}}`)
	if again, err := (Adapter{}).InstallHooks(shared, ourHook); err != nil || !bytes.Contains(again, []byte(`"PreToolUse":[{"matcher":"*"`)) {
		t.Errorf("%v: %s", err, again)
	}
}

func TestSettingsRoundTrip(t *testing.T) {
	for _, in := range settingsCases {
		checkRoundTrip(t, []byte(in))
	}
}

func TestSettingsNoFile(t *testing.T) {
	for _, in := range [][]byte{nil, {}, []byte("\n")} {
		out := install(t, in, ourHook)
		if in == nil != bytes.HasSuffix(out, []byte("\n}\n")) {
			t.Errorf("how a file ends tells whether it was there before:\n%s", out)
		}
		out = append(bytes.TrimSpace(out), '\n')
		if !bytes.HasPrefix(out, []byte("{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n")) || !bytes.HasSuffix(out, []byte("\n}\n")) {
			t.Errorf("a new file is\n%s", out)
		}
		var compact bytes.Buffer
		if err := json.Indent(&compact, out, "", "  "); err != nil || compact.String() != string(out) {
			t.Errorf("a new file is not as Claude Code writes it: %v\n%s", err, out)
		}
		// A file that was there, blank, is so again; one that was not is removed.
		back, remove, err := (Adapter{}).UninstallHooks(install(t, in, ourHook))
		if err != nil || remove != (in == nil) || !remove && !bytes.Equal(back, in) {
			t.Errorf("not to be removed: %q, %v", back, err)
		}
	}
	if out, remove, err := (Adapter{}).UninstallHooks(nil); out != nil || remove || err != nil {
		t.Errorf("uninstalled from nothing: %q, %t, %v", out, remove, err)
	}
}

// TestSettingsLater: what the user adds after the installation stays.
func TestSettingsLater(t *testing.T) {
	out := string(install(t, nil, ourHook))
	edited := strings.Replace(out, "{\n  \"hooks\"", "{\n  \"model\": \"opus\",\n  \"hooks\"", 1)
	back, remove, err := Adapter{}.UninstallHooks([]byte(edited))
	if want := "{\n  \"model\": \"opus\"\n}\n"; err != nil || remove || string(back) != want {
		t.Errorf("%q, %t, %v", back, remove, err)
	}
	edited = strings.Replace(out, `"timeout": 15`+"\n          }", `"timeout": 15`+"\n          },\n          { \"type\": \"command\", \"command\": \"mine\" }", 1)
	back, remove, err = Adapter{}.UninstallHooks([]byte(edited))
	if err != nil || remove || !strings.Contains(string(back), `"mine"`) || strings.Contains(string(back), "umbra") {
		t.Errorf("%q, %t, %v", back, remove, err)
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, in := range []string{
		"{ // comment\n}", "{\"a\": 1,}", "{\"a\": 1", "[]", `"x"`, "\ufeff{}", "{} {}",
		`{"hooks": []}`, `{"hooks": null}`, `{"hooks": {"Stop": {}}}`, `{"hooks": {"Stop": null}}`,
		`{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
	} {
		if out, err := (Adapter{}).InstallHooks([]byte(in), ourHook); err == nil || out != nil {
			t.Errorf("installed into %s: %s", in, out)
		}
		if out, _, err := (Adapter{}).UninstallHooks([]byte(in)); err == nil || out != nil {
			t.Errorf("uninstalled from %s: %s", in, out)
		}
		if _, _, err := (Adapter{}).HookCommands([]byte(in)); err == nil {
			t.Errorf("read the hooks of %s", in)
		}
	}
	for _, command := range []string{"", "umbra", "echo umbra hook claude", "/tmp/umbra.test hook claude", "umbra hook codex", "cd / && umbra hook claude", "umbra hook claude; rm x", "umbra hook claude || rm x", "umbra hook claude || exit 0; rm x", "umbra hook claude | true"} {
		if _, err := (Adapter{}).InstallHooks(nil, command); err == nil {
			t.Errorf("%q was installed", command)
		}
	}
	for _, command := range []string{"umbra hook claude", "/a/b/umbra hook claude", `"/my dir/umbra" hook claude`, `/my\ dir/umbra  hook  claude`, "$HOME/bin/umbra hook claude", "umbra hook claude || exit 0", "umbra hook claude || exit 1", "/a/umbra  hook claude  ||  exit 1"} {
		if _, err := (Adapter{}).InstallHooks(nil, command); err != nil {
			t.Errorf("%q is not recognised: %v", command, err)
		}
	}
}

func TestHookCommands(t *testing.T) {
	commands, missing, err := Adapter{}.HookCommands(nil)
	if err != nil || commands != nil || !slices.Equal(missing, shape().Events) {
		t.Errorf("%v, %v, %v", commands, missing, err)
	}
	in := `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"},{"type":"command","command":"/x/umbra hook claude"}]}]}}`
	commands, missing, err = Adapter{}.HookCommands([]byte(in))
	if err != nil || !slices.Equal(commands, []string{"/x/umbra hook claude"}) || len(missing) != len(shape().Events)-1 {
		t.Errorf("%v, %v, %v", commands, missing, err)
	}
}

func TestHookFile(t *testing.T) {
	env := sessions.Environ{Home: "/h", Vars: map[string]string{}}
	for scope, want := range map[sessions.Scope]string{
		sessions.ScopeUser: "/h/.claude/settings.json", sessions.ScopeProject: "/p/.claude/settings.local.json", sessions.ScopeShared: "/p/.claude/settings.json",
	} {
		if got := (Adapter{}).HookFile(env, scope, "/p"); got != want {
			t.Errorf("%s: %s", scope, got)
		}
	}
}

// TestSettingsProperty makes settings of any content and formatting.
func TestSettingsProperty(t *testing.T) { rapid.Check(t, settingsProperty) }

// FuzzSettingsProperty is TestSettingsProperty, led by coverage.
func FuzzSettingsProperty(f *testing.F) { draws.Fuzz(f, settingsProperty) }

func settingsProperty(t *rapid.T) {
	group := rapid.Custom(func(t *rapid.T) any {
		return map[string]any{"matcher": rapid.SampledFrom([]string{"", "*", "Bash"}).Draw(t, "matcher"),
			"hooks": rapid.SliceOfN(rapid.Just[any](map[string]any{"type": "command", "command": "mine"}), 0, 2).Draw(t, "own")}
	})
	root := map[string]any{}
	for _, key := range rapid.SliceOfN(rapid.SampledFrom([]string{"model", "env", "permissions", "a\"b", "é", ""}), 0, 4).Draw(t, "keys") {
		root[key] = rapid.SampledFrom([]any{"x", 1.5, true, nil, []any{}, []any{"a"}, map[string]any{"hooks": map[string]any{}}, map[string]any{}}).Draw(t, "value")
	}
	if rapid.Bool().Draw(t, "hooked") {
		events := map[string]any{}
		for _, event := range rapid.SliceOfN(rapid.SampledFrom(append(slices.Clone(shape().Events), "Other")), 0, 4).Draw(t, "events") {
			events[event] = rapid.SliceOfN(group, 1, 3).Draw(t, "groups")
		}
		root["hooks"] = events
	}
	b, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	if unit := rapid.SampledFrom([]string{"", "  ", "    ", "\t"}).Draw(t, "unit"); unit != "" {
		var out bytes.Buffer
		if err := json.Indent(&out, b, "", unit); err != nil {
			t.Fatal(err)
		}
		b = out.Bytes()
	}
	checkRoundTrip(t, append(b, rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end")...))
}

func FuzzSettings(f *testing.F) {
	for _, in := range settingsCases {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if _, missing, err := (Adapter{}).HookCommands(in); err != nil || len(missing) < len(shape().Events) || len(bytes.TrimSpace(in)) == 0 {
			return // refused, or has Umbra's hooks already
		}
		out := install(t, in, ourHook)
		if !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
		back, _, err := Adapter{}.UninstallHooks(out)
		if err != nil || !json.Valid(back) {
			t.Fatalf("%q came back as %q, %v", in, back, err)
		}
		// An empty container that is written as Umbra writes one may go with it.
		if !bytes.Equal(back, in) && !bytes.Contains(in, []byte("hooks")) {
			t.Fatalf("%q came back as %q", in, back)
		}
	})
}
