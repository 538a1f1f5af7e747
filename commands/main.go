// Package commands is the command line: flags become options, options become
// one call of missions.Service, and its result becomes output. It owns the
// terminal and the exit code; it never touches a repository or a workspace.
package commands

import (
	"os"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/connect"
	"github.com/umbra-vcs/umbra/commands/hook"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/commands/status"
)

// Main runs umbra with the process's arguments and returns its exit code. What
// it writes down as the time is what now says.
func Main(now func() time.Time) int {
	if len(os.Args) > 1 && os.Args[1] == keeper.StartWord {
		return keeper.BecomeAgent(os.Args[2:])
	}
	first := call.ProcessEnv(now, connect.Service)
	first.Again = Run
	if status.QuickPrompt(first) {
		return 0
	}
	code, env, done := hook.Quick(first)
	if !done {
		code, env, done = status.QuickStatusLine(env)
	}
	if done {
		return code
	}
	return Run(env)
}
