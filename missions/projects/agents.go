package projects

import (
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
	"github.com/umbra-vcs/umbra/sessions/codex"
	"github.com/umbra-vcs/umbra/sessions/gemini"
	"github.com/umbra-vcs/umbra/sessions/opencode"
)

// Agents are the agents whose conversations Umbra knows. A new one is a package
// and a line here.
func Agents() []sessions.Adapter {
	return []sessions.Adapter{claude.Adapter{}, codex.New(), gemini.Adapter{}, opencode.Adapter{}}
}

// AgentVariables names the environment variables that an adapter reads, and that are
// kept with a mission.
func AgentVariables(a sessions.Adapter) []string {
	if r, ok := a.(sessions.Relocatable); ok {
		return r.Variables()
	}
	return nil
}

// CallerEnv is the part of a caller's environment that adapters read.
func CallerEnv(c missions.Caller) sessions.Environ {
	return sessions.Environ{Home: c.Env["HOME"], Vars: c.Env}
}
