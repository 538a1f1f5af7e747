package codex

import (
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func TestPlugin(t *testing.T) {
	for settings, want := range map[string]string{
		"[plugins.\"other@umbra\"]\nenabled = true\n[plugins.\"umbra@mine\"]\nenabled = true": "umbra@mine",
		"[plugins.\"umbra@umbra\"]\nenabled = false":                                          "",
		"plugins = 3": "",
	} {
		read := func(name string) ([]byte, error) {
			if name != "/h/.codex/config.toml" {
				t.Errorf("reads %s", name)
			}
			return []byte(settings), nil
		}
		if got := (Plugin{}).Enabled(sessions.Environ{Home: "/h"}, read); got != want {
			t.Errorf("%s: %q, want %q", settings, got, want)
		}
	}
}

// TestPluginsHooks: the plugin asks for the events that installed hooks ask for, of the same
// tools and as long.
func TestPluginsHooks(t *testing.T) {
	installed, err := (Adapter{}).InstallHooks(nil, "umbra hook codex || exit 0")
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("../plugin/hooks/codex.json")
	if err != nil {
		t.Fatal(err)
	}
	const calls = `sh \"${CLAUDE_PLUGIN_ROOT}/umbra.sh\" hook codex --plugin || exit 0`
	if got := strings.ReplaceAll(string(content), calls, "umbra hook codex || exit 0"); got != string(installed) {
		t.Errorf("the plugin has\n%s\nand installed hooks are\n%s", got, installed)
	}
}
