package gemini

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// shape names the events that Umbra asks for. The timeout is in milliseconds: a
// hook lets go of the agent after ten seconds.
func shape() hooks.Shape {
	return hooks.Shape{
		Agent:   "gemini",
		Events:  []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "Notification", "AfterAgent", "SessionEnd"},
		Matched: map[string]string{"BeforeTool": "*", "AfterTool": "*"},
		Timeout: 15000,
	}
}

// HookFile is the settings file of a scope. The client has no local one for a
// project: both of a project's scopes are the file that may be committed.
func (a Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	if scope == sessions.ScopeUser {
		return filepath.Join(a.Root(env), userSettings)
	}
	return filepath.Join(projectDir, ".gemini", "settings.json")
}

// InstallHooks implements sessions.Adapter.
func (Adapter) InstallHooks(settings []byte, hookCommand string) ([]byte, error) {
	return shape().Install(settings, hookCommand)
}

// UninstallHooks implements sessions.Adapter.
func (Adapter) UninstallHooks(settings []byte) (out []byte, remove bool, err error) {
	return shape().Uninstall(settings)
}

// HookCommands implements sessions.Adapter.
func (Adapter) HookCommands(settings []byte) (commands, missing []string, err error) {
	return shape().Commands(settings)
}

// serversKey is where settings name servers of tools.
const serversKey = "mcpServers"

// InstallServer implements sessions.Serving.
func (Adapter) InstallServer(settings []byte, command []string) (out []byte, theirs bool, err error) {
	return hooks.AddServer(settings, serversKey, command)
}

// UninstallServer implements sessions.Serving.
func (Adapter) UninstallServer(settings []byte) ([]byte, error) {
	return hooks.DropServer(settings, serversKey)
}

// HooksOff reports whether settings switch all hooks off.
func (Adapter) HooksOff(settings []byte) bool {
	return hooksEnabled(settings) == "false"
}

// hooksEnabled is what settings say of all hooks; "" if nothing.
func hooksEnabled(settings []byte) string {
	return string(jsontext.Lookup(jsontext.Lookup(settings, "hooksConfig"), "enabled"))
}
