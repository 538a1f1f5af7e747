// Package claude knows Claude Code: where its transcripts and their side files
// live, how they are read, cut and rewritten, how it is launched and resumed,
// and what its hooks say. It covers versions 2.0.77, 2.1.197 and 2.1.329, whose
// formats it learnt by watching them, and takes what it does not know as foreign
// lines to keep. It must not write files, nor know of missions or Git.
package claude

import (
	"strconv"

	"github.com/umbra-vcs/umbra/sessions"
)

// Adapter is the sessions.Adapter of Claude Code. Its zero value is ready.
type Adapter struct{}

var _ sessions.Adapter = Adapter{}

// Name is "claude".
func (Adapter) Name() string { return "claude" }

const (
	varConfigDir  = "CLAUDE_CONFIG_DIR"
	varProjectDir = "CLAUDE_CODE_PROJECT_DIR_NAME"
	varEntrypoint = "CLAUDE_CODE_ENTRYPOINT"
	varPID        = "CLAUDE_PID"
	varBackground = "CLAUDE_JOB_DIR" // in a background session alone
)

// otherAgents are variables of agents that run hooks meant for Claude Code, or like
// them: Copilot CLI, Qwen Code, pi. A session that one of them has started has them too.
// CLAUDE_PROJECT_DIR tells nothing: the others set it as well.
var otherAgents = []string{"COPILOT_CLI", "QWEN_CODE_SESSION_ID", "PI_CODING_AGENT"}

// Variables names what decides where the store is.
func (Adapter) Variables() []string { return []string{varConfigDir, varProjectDir} }

// StoreVariables names the same.
func (a Adapter) StoreVariables() []string { return a.Variables() }

// HookVariables names what tells an interactive run from a headless one and from a
// background session, which process it is, and another agent's hook.
func (Adapter) HookVariables() []string {
	return append([]string{varEntrypoint, varPID, varBackground}, otherAgents...)
}

// SessionVariables are those of tools, of hooks and of background sessions: by them a
// session marks the programs that it runs. A session on a terminal that finds
// CLAUDE_CODE_CHILD_SESSION keeps no transcript; one that finds CLAUDE_JOB_DIR writes into
// the job of another.
func SessionVariables() []string {
	return []string{
		"CLAUDECODE", varEntrypoint, varPID, varBackground,
		"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS",
		"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN",
		"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SESSION_KIND",
		"CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_DATA", "CLAUDE_PLUGIN_ROOT", "CLAUDE_PROJECT_DIR",
	}
}

// PID is the process that calls the hook; versions before 2.1 do not say it.
func (Adapter) PID(env sessions.Environ) (pid int, told bool) {
	v, told := env.Vars[varPID]
	pid, err := strconv.Atoi(v)
	if err != nil || pid < 0 {
		pid = 0
	}
	return pid, told
}

// Runs reports whether argv starts Claude Code: the program itself, or node on
// the script of the npm package.
func (Adapter) Runs(argv []string) bool {
	return programIndex(argv) >= 0
}

// programIndex is the index in argv of the word that names Claude Code; its own
// arguments follow. -1 if argv starts something else.
func programIndex(argv []string) int { return sessions.ProgramAt(argv, "claude", "claude-code/cli.js") }
