package claude

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Plugin is Umbra's plugin in Claude Code.
type Plugin struct{}

var _ sessions.Plugin = Plugin{}

// Agent implements sessions.Plugin.
func (Plugin) Agent() string { return Adapter{}.Name() }

// Enabled implements sessions.Plugin: enabledPlugins has NAME@MARKETPLACE, which is false
// where it is switched off.
func (Plugin) Enabled(env sessions.Environ, read func(string) ([]byte, error)) string {
	settings, err := read(filepath.Join(Adapter{}.Root(env), "settings.json"))
	if err != nil {
		return ""
	}
	plugins := jsontext.Walk(jsontext.Lookup(bytes.TrimSpace(settings), "enabledPlugins"))
	for name, on := range plugins.Members() {
		if plugin := string(name); strings.HasPrefix(plugin, sessions.PluginName+"@") && jsontext.IsTrue(on) {
			return plugin
		}
	}
	return ""
}

// Handed implements sessions.Plugin, by the options with which a launch hands over hooks
// and tools.
func (Plugin) Handed(argv []string, read func(string) ([]byte, error)) (hooks, tools bool) {
	if len(argv) == 0 {
		return false, false
	}
	args := grammar().Parse(argv[1:])
	if settings, ok := args.Value("--settings"); ok {
		content := []byte(settings)
		if !strings.HasPrefix(strings.TrimSpace(settings), "{") {
			content, _ = read(settings) // of what can't be read nothing has come
		}
		commands, _, err := shape().Commands(content)
		hooks = err == nil && len(commands) > 0
	}
	for _, a := range args {
		tools = tools || a.Name == "--mcp-config" && slices.ContainsFunc(a.Values, namesServer)
	}
	return hooks, tools
}

// namesServer reports whether a configuration of servers, as a launch hands it over, has
// Umbra's.
func namesServer(config string) bool {
	servers := jsontext.Lookup([]byte(strings.TrimSpace(config)), "mcpServers")
	return jsontext.Lookup(servers, sessions.ServerName) != nil
}
