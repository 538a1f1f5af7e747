package pi

import (
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

var _ sessions.Configured = Adapter{}

// ConfigRoot implements sessions.Configured: what pi reads wherever it is started.
func (a Adapter) ConfigRoot(env sessions.Environ) string { return a.Root(env) }

// ConfigPaths implements sessions.Configured (docs/configuration.md of pi).
func (Adapter) ConfigPaths() []string {
	return []string{
		"settings.json", "models.json", "mcp.json", "keybindings.json", "AGENTS.md", "SYSTEM.md", "APPEND_SYSTEM.md",
		"extensions/", "prompts/", "skills/", "themes/",
	}
}

// CleanConfig implements sessions.Configured: of settings, what may be a secret goes.
func (Adapter) CleanConfig(name string, content []byte) ([]byte, error) {
	return jsontext.CleanSettings(name, content)
}
