package copilot

import (
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

var _ sessions.Configured = Adapter{}

// ConfigRoot implements sessions.Configured: what Copilot reads wherever it is started.
func (a Adapter) ConfigRoot(env sessions.Environ) string { return a.Root(env) }

// ConfigPaths implements sessions.Configured. config.json is Copilot's own, with who is
// logged in.
func (Adapter) ConfigPaths() []string {
	return []string{"settings.json", "mcp-config.json", "lsp-config.json", "copilot-instructions.md", "agents/", "hooks/", "instructions/", "skills/"}
}

// CleanConfig implements sessions.Configured: of settings, what may be a secret goes.
func (Adapter) CleanConfig(name string, content []byte) ([]byte, error) {
	return jsontext.CleanSettings(name, content)
}
