package gemini

import (
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

var _ sessions.Configured = Adapter{}

// userSettings is the name of the user's settings below Root.
const userSettings = "settings.json"

// ConfigRoot implements sessions.Configured.
func (a Adapter) ConfigRoot(env sessions.Environ) string { return a.Root(env) }

// ConfigPaths implements sessions.Configured
// (packages/core/src/config/storage.ts, and hooks by custom).
func (Adapter) ConfigPaths() []string {
	return []string{userSettings, "GEMINI.md", "keybindings.json", "agents/", "commands/", "hooks/", "policies/", "skills/"}
}

// CleanConfig implements sessions.Configured: of settings, what may be a secret
// goes. Settings with comments are not kept.
func (Adapter) CleanConfig(name string, content []byte) ([]byte, error) {
	return jsontext.CleanSettings(name, content)
}
