package claude

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestPlugin(t *testing.T) {
	for settings, want := range map[string]string{
		`{"enabledPlugins":{"other@umbra":true,"umbra@mine":true}}`: "umbra@mine",
		`{"enabledPlugins":{"umbra@umbra":false}}`:                  "",
		`{"enabledPlugins":[]}`:                                     "",
		`{`:                                                         "",
	} {
		read := func(name string) ([]byte, error) {
			if name != "/h/.claude/settings.json" {
				t.Errorf("reads %s", name)
			}
			return []byte(settings), nil
		}
		if got := (Plugin{}).Enabled(sessions.Environ{Home: "/h"}, read); got != want {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
}

func TestHanded(t *testing.T) {
	const hooks = `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/b/umbra hook claude || exit 0"}]}]}}`
	read := func(name string) ([]byte, error) {
		if name == "/f" {
			return []byte(hooks), nil
		}
		return nil, errors.New("absent")
	}
	for _, c := range []struct {
		argv         string
		hooks, tools bool
	}{
		{"claude -p x", false, false},
		{"claude --settings /f -p x", true, false},
		{"claude --settings /g -p x", false, false},
		{"claude --settings " + strings.ReplaceAll(hooks, " ", "\u00a0"), false, false},
		{`claude --settings {"hooks":{}}`, false, false},
		{`claude --mcp-config {"mcpServers":{"mine":{}}} {"mcpServers":{"umbra":{}}} --settings /f`, true, true},
		{`claude --mcp-config {"mcpServers":{"mine":{}}}`, false, false},
		{"", false, false},
	} {
		argv := strings.Fields(c.argv)
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "\u00a0", " ")
		}
		hooks, tools := (Plugin{}).Handed(argv, read)
		if hooks != c.hooks || tools != c.tools {
			t.Errorf("%s: %v %v", c.argv, hooks, tools)
		}
	}
	if hooks, _ := (Plugin{}).Handed([]string{"claude", "--settings", hooks}, read); !hooks {
		t.Error("settings in the command itself hand nothing over")
	}
}

// TestPluginsHooks: the plugin asks for the events that installed hooks ask for of all
// versions, of the same tools and as long. 2.0 loads none of a plugin's hooks, in silence, if
// it does not know one.
func TestPluginsHooks(t *testing.T) {
	installed, err := (Adapter{}).InstallHooks(nil, "umbra hook claude || exit 0")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("../plugin/hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	const calls = `sh \"${CLAUDE_PLUGIN_ROOT}/umbra.sh\" hook claude --plugin || exit 0`
	if got := strings.ReplaceAll(string(content), calls, "umbra hook claude || exit 0"); got != string(installed) {
		t.Errorf("the plugin has\n%s\nand installed hooks are\n%s", got, installed)
	}
}

// TestPluginsCommands: a prompt that names a command of the plugin is Umbra's.
func TestPluginsCommands(t *testing.T) {
	files, err := os.ReadDir("../plugin/slash")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file.Name(), ".md")
		_, words, ok := commandIn("/umbra:" + name + " a word")
		if want := strings.TrimPrefix(name+" a word", commandName+" "); !ok || words != want {
			t.Errorf("/umbra:%s is %q %v, want %q", name, words, ok, want)
		}
		if content, err := os.ReadFile("../plugin/slash/" + file.Name()); err != nil || !strings.Contains(string(content), commandMark) {
			t.Errorf("%s: %v", file.Name(), err)
		}
	}
	for _, prompt := range []string{"/umbra:other", "/umbra:", "/umbra:forks", "umbra:fork"} {
		if _, _, ok := commandIn(prompt); ok {
			t.Errorf("%s is a command", prompt)
		}
	}
}
