package claude

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// untold matches every tool but those that only look, at files or at the agent's own notes,
// and are done at once: a hook would cost more than they do, and nothing is kept for them.
// Those that fetch from the network or ask are told of, since they may wait. A matcher with
// other characters than names have is a regular expression of JavaScript.
const untold = "^(?!(Read|Glob|Grep|NotebookRead|ToolSearch|TodoWrite|TaskCreate|TaskGet|TaskList|TaskUpdate|BashOutput|ListMcpResourcesTool)$)"

// shape names the events that all versions know. 2.0 ignores a whole settings file, with the
// user's own keys, if the file names an event that 2.0 does not know, such as PostToolBatch or
// PermissionRequest. The timeout is in seconds, and
// longer than a hook of Umbra's holds the agent, which is ten.
func shape() hooks.Shape {
	return hooks.Shape{
		Agent:   "claude",
		Events:  []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification", "Stop", "SessionEnd"},
		Matched: map[string]string{"PreToolUse": untold, "PostToolUse": untold},
		Timeout: 15,
		Others:  map[string]int{worktreeCreate: worktreeTimeout, worktreeRemove: worktreeTimeout},
		Later:   []string{worktreeCreate, worktreeRemove},
		Ends:    map[string]string{worktreeCreate: plainWorktree, worktreeRemove: ""},
	}
}

// HookFile is the settings file of a scope.
func (a Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	switch scope {
	case sessions.ScopeProject:
		return filepath.Join(projectDir, ".claude", "settings.local.json")
	case sessions.ScopeShared:
		return filepath.Join(projectDir, ".claude", "settings.json")
	}
	return filepath.Join(a.Root(env), "settings.json")
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

const statusLineKey = "statusLine"

// InstallStatusLine implements sessions.StatusLiner.
func (Adapter) InstallStatusLine(settings []byte, command string) (out []byte, theirs bool, err error) {
	return hooks.AddStatusLine(settings, statusLineKey, command)
}

// UninstallStatusLine implements sessions.StatusLiner.
func (Adapter) UninstallStatusLine(settings []byte) ([]byte, error) {
	return hooks.DropStatusLine(settings, statusLineKey)
}
