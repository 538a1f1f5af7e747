// Package plugin knows of what an agent's plugin calls (sessions/plugin) whether the agent
// calls it otherwise too: agents run both, and then the plugin's does nothing.
package plugin

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// HasOtherHooks reports whether the agent above this process calls umbra's hooks by its
// settings, or by those of its launch.
func HasOtherHooks(env call.Env, agent string) bool {
	p := projects.PluginOf(agent)
	caller, err := env.Caller()
	if p == nil || err != nil {
		return false
	}
	if handed, _ := p.Handed(commandLineOf(agent, caller), os.ReadFile); handed {
		return true
	}
	for _, a := range projects.Agents() {
		if a, ok := a.(sessions.Installing); ok && a.Name() == agent {
			return isInstalled(a, projects.CallerEnv(caller), settingsDirs(caller.Cwd, env.Getenv("CLAUDE_PROJECT_DIR")))
		}
	}
	return false
}

// HasOtherTools reports whether the launch of the agent above this process has handed it
// Umbra's tools, or its user's own servers have them.
func HasOtherTools(env call.Env) bool {
	caller, err := env.Caller()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(projects.Plugins(), func(p sessions.Plugin) bool {
		argv := commandLineOf(p.Agent(), caller)
		_, tools := p.Handed(argv, os.ReadFile)
		return tools || len(argv) > 0 && isEnlisted(p, projects.CallerEnv(caller))
	})
}

// isEnlisted reports whether an agent that starts each server of each name has Umbra's tools
// among its user's servers.
func isEnlisted(p sessions.Plugin, env sessions.Environ) bool {
	if p.Agent() != "claude" {
		return false // one server of a name is started
	}
	own := projects.OwnServers(p.Agent())
	content, err := os.ReadFile(own.ServerFile(env))
	if err != nil {
		return false
	}
	command, _, err := own.EnlistedServer(content)
	if err != nil || len(command) != 2 || command[1] != "mcp" || sessions.Program(command[0]) != "umbra" {
		return false
	}
	_, err = exec.LookPath(command[0])
	return err == nil
}

// commandLineOf is the command line of the agent above this process, as far as the system
// tells.
func commandLineOf(agent string, c missions.Caller) []string {
	pid := presence.FindAgentProcess(agent, c, os.Getppid())
	for _, a := range projects.Agents() {
		if t, ok := a.(sessions.Telling); ok && a.Name() == agent && pid == 0 {
			pid, _ = t.PID(projects.CallerEnv(c))
		}
	}
	if pid == 0 {
		return nil
	}
	argv, _ := lock.CommandLine(pid) // none where it can't be read
	return argv
}

// isInstalled reports whether settings of the user's or of one of the directories call
// Umbra's hooks, and the agent runs them.
func isInstalled(a sessions.Installing, env sessions.Environ, dirs []string) bool {
	files := []string{a.HookFile(env, sessions.ScopeUser, "")}
	for _, dir := range dirs {
		files = append(files, a.HookFile(env, sessions.ScopeProject, dir), a.HookFile(env, sessions.ScopeShared, dir))
	}
	for _, file := range files {
		settings, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if commands, _, err := a.HookCommands(settings); err != nil || !slices.ContainsFunc(commands, isThere) {
			continue
		}
		if t, ok := a.(sessions.Truster); !ok || t.Distrusted(env, file, os.ReadFile) == "" {
			return true
		}
	}
	return false
}

// isThere reports whether the program that a hook calls is there: one that is gone keeps
// nothing.
func isThere(command string) bool {
	_, err := exec.LookPath(hooks.Program(command))
	return err == nil
}

// settingsDirs are the directories whose settings an agent reads: that in which it was
// started, if it says so, and those from where it works up to the top of the repository.
func settingsDirs(cwd, started string) []string {
	var dirs []string
	if started != "" {
		dirs = append(dirs, started)
	}
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return dirs
		}
	}
}
