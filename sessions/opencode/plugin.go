package opencode

import (
	_ "embed"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

//go:embed plugin.js
var pluginText []byte

const pluginName = "umbra.js"

// plugin is Umbra's plugin for OpenCode.
func plugin() hooks.Script {
	return hooks.Script{Text: pluginText, First: "// Umbra's plugin for OpenCode.", Last: "// The end of Umbra's plugin "}
}

// HookFile is the plugin's file. OpenCode knows none that is a project's and
// unshared.
func (a Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	if scope == sessions.ScopeUser {
		return filepath.Join(a.ConfigRoot(env), "plugin", pluginName)
	}
	return filepath.Join(projectDir, ".opencode", "plugin", pluginName)
}

// InstallHooks makes the plugin. What its user has added about it stays.
func (Adapter) InstallHooks(settings []byte, hookCommand string) ([]byte, error) {
	return plugin().Install(settings, hookCommand)
}

// UninstallHooks takes the plugin out, and leaves another's file, and what its
// user has added, alone.
func (Adapter) UninstallHooks(settings []byte) (out []byte, remove bool, err error) {
	return plugin().Uninstall(settings)
}

// HookCommands returns the command that the plugin calls. One that another
// version of Umbra wrote lacks what this one's hears.
func (Adapter) HookCommands(settings []byte) (commands, missing []string, err error) {
	return plugin().Commands(settings)
}

// InstallServer implements sessions.Serving.
func (Adapter) InstallServer(settings []byte, command []string) (out []byte, theirs bool, err error) {
	return plugin().InstallServer(settings, command)
}

// UninstallServer implements sessions.Serving.
func (Adapter) UninstallServer(settings []byte) ([]byte, error) {
	return plugin().UninstallServer(settings)
}
