package opencode

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

var _ sessions.Configured = Adapter{}

// ConfigRoot implements sessions.Configured: what OpenCode reads wherever it is
// started. OPENCODE_CONFIG and OPENCODE_CONFIG_DIR are added to it by a launch.
func (Adapter) ConfigRoot(env sessions.Environ) string {
	return filepath.Join(xdg(env, varConfig, ".config"), "opencode")
}

// ConfigPaths implements sessions.Configured: OpenCode reads each kind in a
// directory of either number (packages/opencode/src/config).
func (Adapter) ConfigPaths() []string {
	paths := []string{"opencode.json", "opencode.jsonc", "config.json", "tui.json", "tui.jsonc", "AGENTS.md", "themes/"}
	for _, kind := range []string{"agent", "command", "mode", "plugin", "skill", "tool"} {
		paths = append(paths, kind+"/", kind+"s/")
	}
	return paths
}

// CleanConfig implements sessions.Configured: of settings, what may be a secret
// goes. Settings with comments are not kept.
func (Adapter) CleanConfig(name string, content []byte) ([]byte, error) {
	return jsontext.CleanSettings(name, content)
}
