package projects

import (
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
	"github.com/umbra-vcs/umbra/sessions/codex"
	"github.com/umbra-vcs/umbra/sessions/copilot"
	"github.com/umbra-vcs/umbra/sessions/gemini"
	"github.com/umbra-vcs/umbra/sessions/opencode"
	"github.com/umbra-vcs/umbra/sessions/pi"
	"github.com/umbra-vcs/umbra/sessions/qwen"
)

// Agents are the agents whose conversations Umbra knows. A new one is a package
// and a line here.
func Agents() []sessions.Adapter {
	return []sessions.Adapter{claude.Adapter{}, codex.New(), gemini.Adapter{}, opencode.Adapter{}, pi.Adapter{}, copilot.Adapter{}, qwen.Adapter{}}
}

// Plugins are what is known of Umbra's plugin in those agents that have plugins.
func Plugins() []sessions.Plugin { return []sessions.Plugin{claude.Plugin{}, codex.Plugin{}} }

// PluginOf is that of the agent of that name, nil if it has none.
func PluginOf(agent string) sessions.Plugin {
	for _, p := range Plugins() {
		if p.Agent() == agent {
			return p
		}
	}
	return nil
}

// OwnServers are the servers of tools that the agent of that name keeps itself, nil if its
// settings have them, or nothing is known of them.
func OwnServers(agent string) sessions.Enlisting {
	for _, s := range []sessions.Enlisting{claude.Servers{}, codex.Servers{}} {
		if s.Agent() == agent {
			return s
		}
	}
	return nil
}

// WorktreeHooks are those of the agent of that name, nil if it has none.
func WorktreeHooks(agent string) sessions.WorktreeHooks {
	if w := (claude.Worktrees{}); w.Agent() == agent {
		return w
	}
	return nil
}

// AgentVariables names the environment variables that an adapter reads, and that are
// kept with a mission.
func AgentVariables(a sessions.Adapter) []string {
	if r, ok := a.(sessions.Relocatable); ok {
		return r.Variables()
	}
	return nil
}

// SessionVariables names the environment variables by which agents mark the programs that
// they run as parts of their own sessions.
func SessionVariables() []string {
	return slices.Concat(claude.SessionVariables(), codex.SessionVariables(), opencode.SessionVariables(), pi.SessionVariables(),
		copilot.SessionVariables(), qwen.SessionVariables())
}

// CallerEnv is the part of a caller's environment that adapters read.
func CallerEnv(c missions.Caller) sessions.Environ {
	return sessions.Environ{Home: c.Env["HOME"], Vars: c.Env}
}

// GitVariables names the environment variables by which git finds the configuration, the
// credentials and the way to another machine. None of them is a secret itself.
func GitVariables() []string {
	return []string{
		"HOME", "PATH", "USER", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT",
		"GIT_ASKPASS", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "SSH_AUTH_SOCK", "GNUPGHOME", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS",
		"XDG_RUNTIME_DIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "NO_PROXY", "no_proxy",
	}
}

// CallerVariables names the environment variables that a Caller carries: Umbra's
// own, and those that the agents' adapters read. None holds a secret; everything
// else stays in the caller's process.
func CallerVariables() []string {
	names := []string{
		"SHELL", "XDG_DATA_HOME", "TERM",
	}
	names = append(names, GitVariables()...)
	names = append(names, settings.Variables()...)
	for _, a := range Agents() {
		names = append(names, AgentVariables(a)...)
		if t, ok := a.(sessions.Telling); ok {
			names = append(names, t.HookVariables()...)
		}
	}
	return names
}

// AdapterSet is the agents that a process of Umbra's knows, and the tools that tell it
// themselves what they do.
type AdapterSet struct {
	*Base
	Adapters []sessions.Adapter
}

// Adapter returns the agent's adapter, or nil for any other command.
func (s *AdapterSet) Adapter(agent string) sessions.Adapter {
	for _, a := range s.Adapters {
		if a.Name() == agent {
			return a
		}
	}
	return s.foreignAdapter(agent)
}

// AgentOf names the agent that a command line starts: an adapter's name, or
// the program's own.
func (s *AdapterSet) AgentOf(argv []string) string {
	for _, a := range s.Adapters {
		if a.Runs(argv) {
			return a.Name()
		}
	}
	return filepath.Base(argv[0])
}

// NewSession makes the id of a conversation that an agent is to go on in.
func (s *AdapterSet) NewSession(a sessions.Adapter) string { return a.NewID(s.NewID(), s.Now()) }
