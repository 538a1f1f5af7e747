package copilot

import (
	"bytes"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// shape names the events that Umbra asks for, by Claude Code's names for them: with these
// Copilot says in a payload which event it is, and which subagent's. Each hook that runs is
// written into the conversation, with all that it was told: there are no more than needed.
// The timeout is in seconds.
func shape() hooks.Shape {
	return hooks.Shape{
		Agent:   "copilot",
		Events:  []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification", "Stop", "SessionEnd"},
		Timeout: 15,
	}
}

// HookFile is a file of Umbra's own: Copilot reads all that are beside it. Those of a
// project are shared, and run where its user trusts the directory.
func (a Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	if scope == sessions.ScopeUser {
		return filepath.Join(a.Root(env), "hooks", "umbra.json")
	}
	return filepath.Join(projectDir, ".github", "hooks", "umbra.json")
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

// HooksOff reports whether a file of hooks is switched off. In settings.json the same word
// switches off nothing (1.0.102).
func (Adapter) HooksOff(settings []byte) bool {
	return jsontext.IsTrue(jsontext.Lookup(bytes.TrimSpace(settings), "disableAllHooks"))
}
