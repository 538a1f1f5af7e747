package codex

import (
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/umbra-vcs/umbra/sessions"
)

// Plugin is Umbra's plugin in Codex.
type Plugin struct{}

var _ sessions.Plugin = Plugin{}

// Agent implements sessions.Plugin.
func (Plugin) Agent() string { return Adapter{}.Name() }

// Enabled implements sessions.Plugin: config.toml has a table for each plugin, named
// NAME@MARKETPLACE.
func (Plugin) Enabled(env sessions.Environ, read func(string) ([]byte, error)) string {
	text, err := read(Adapter{}.configFile(env))
	if err != nil {
		return ""
	}
	var settings struct {
		Plugins map[string]struct {
			Enabled bool `toml:"enabled"`
		} `toml:"plugins"`
	}
	if err := toml.Unmarshal(text, &settings); err != nil {
		return "" // Codex does not start with it
	}
	for name, plugin := range settings.Plugins {
		if strings.HasPrefix(name, sessions.PluginName+"@") && plugin.Enabled {
			return name
		}
	}
	return ""
}

// Handed implements sessions.Plugin: Codex takes no hooks for one launch, and of two
// servers of one name it starts one.
func (Plugin) Handed([]string, func(string) ([]byte, error)) (hooks, tools bool) {
	return false, false
}
