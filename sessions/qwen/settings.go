package qwen

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// shape names the events that Umbra asks for. The timeout is in seconds, and
// longer than a hook of Umbra's holds the agent, which is ten.
func shape() hooks.Shape {
	return hooks.Shape{
		Agent: "qwen",
		Events: []string{
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "Notification", "Stop", "SessionEnd",
		},
		Matched: map[string]string{"PreToolUse": "*", "PostToolUse": "*", "PostToolUseFailure": "*", "PermissionRequest": "*"},
		Timeout: 15,
	}
}

// HookFile is the settings file of a scope. The client has no local one for a project: both
// of a project's scopes are the file that may be committed.
func (a Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	if scope == sessions.ScopeUser {
		return filepath.Join(a.ConfigRoot(env), userSettings)
	}
	return filepath.Join(projectDir, ".qwen", userSettings)
}

// InstallHooks implements sessions.Installing.
func (Adapter) InstallHooks(settings []byte, hookCommand string) ([]byte, error) {
	return shape().Install(settings, hookCommand)
}

// UninstallHooks implements sessions.Installing.
func (Adapter) UninstallHooks(settings []byte) (out []byte, remove bool, err error) {
	return shape().Uninstall(settings)
}

// HookCommands implements sessions.Installing.
func (Adapter) HookCommands(settings []byte) (commands, missing []string, err error) {
	return shape().Commands(settings)
}

// HooksOff implements sessions.Silencing.
func (Adapter) HooksOff(settings []byte) bool { return hooksOff(settings) == "true" }

// hooksOff is what settings say of all hooks; "" if nothing.
func hooksOff(settings []byte) string {
	return string(jsontext.Lookup(settings, "disableAllHooks"))
}
