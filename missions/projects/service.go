package projects

import (
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/sessions"
)

// CallerVariables names the environment variables that a Caller carries: Umbra's
// own, and those that the agents' adapters read. None holds a secret; everything
// else stays in the caller's process.
func CallerVariables() []string {
	names := []string{
		"HOME", "PATH", "SHELL", "USER", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TERM", "GIT_CONFIG_GLOBAL",
	}
	names = append(names, settings.Variables()...)
	for _, a := range Agents() {
		names = append(names, AgentVariables(a)...)
		if t, ok := a.(sessions.Telling); ok {
			names = append(names, t.HookVariables()...)
		}
	}
	return names
}
