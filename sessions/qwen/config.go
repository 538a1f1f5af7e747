package qwen

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

var _ sessions.Configured = Adapter{}

const userSettings = "settings.json"

// ConfigRoot is $QWEN_HOME, else ~/.qwen.
func (Adapter) ConfigRoot(env sessions.Environ) string {
	if dir := env.Vars[varHome]; dir != "" {
		return env.Expand(dir)
	}
	return filepath.Join(env.Home, ".qwen")
}

// ConfigPaths implements sessions.Configured.
func (Adapter) ConfigPaths() []string {
	return []string{userSettings, "QWEN.md", "AGENTS.md", "output-language.md", "keybindings.json", "agents/", "commands/", "hooks/", "output-styles/", "skills/"}
}

// CleanConfig implements sessions.Configured: of settings, what may be a secret goes.
// Settings with comments are not kept.
func (Adapter) CleanConfig(name string, content []byte) ([]byte, error) {
	return jsontext.CleanSettings(name, content)
}
