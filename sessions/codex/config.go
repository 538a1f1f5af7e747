package codex

import "github.com/umbra-vcs/umbra/sessions"

var _ sessions.Configured = Adapter{}

// ConfigRoot implements sessions.Configured.
func (a Adapter) ConfigRoot(env sessions.Environ) string { return a.Root(env) }

// ConfigPaths implements sessions.Configured. config.toml is not among them: it
// may hold keys in many places, of servers above all.
func (Adapter) ConfigPaths() []string {
	return []string{"AGENTS.md", "AGENTS.override.md", "prompts/", "skills/", "rules/"}
}

// CleanConfig implements sessions.Configured: what is kept is text for the model
// and rules, in which no secret has a place of its own.
func (Adapter) CleanConfig(_ string, content []byte) ([]byte, error) { return content, nil }
