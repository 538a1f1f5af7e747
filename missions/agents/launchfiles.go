package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/sessions"
)

// KeepSessionStore makes a resumed agent look for its session where the session is: the
// shell in which it is resumed may name another store than the shell in which it began.
// If the session is in neither store, the shell decides.
func KeepSessionStore(m *projects.Mission, a sessions.Adapter, launch *missions.Launch) {
	r, ok := a.(sessions.Relocatable)
	if !ok {
		return
	}
	env := m.AdapterEnv()
	root := a.Root(env)
	if !home.IsWithin(root, m.Binding.SessionPath) && !home.IsWithin(projects.ResolveLinks(root), m.Binding.SessionPath) {
		return
	}
	for _, name := range r.StoreVariables() {
		if value := env.Vars[name]; value != "" {
			launch.Env[name] = value
		} else {
			launch.Unset = append(launch.Unset, name)
		}
	}
}

// placeLaunchFiles places the files of a launch, and removes those of an earlier one.
func (l *Launcher) placeLaunchFiles(m *projects.Mission, files []sessions.File) error {
	if err := os.RemoveAll(l.presence.LaunchDir(m)); err != nil {
		return fmt.Errorf("take away what an earlier launch had: %w", err)
	}
	for _, f := range files {
		if err := conversations.PlaceFile(l.Home.Dir, f); err != nil {
			return err
		}
	}
	return nil
}

// HookCommand is the command line of an agent's hooks. It is the same byte for byte
// wherever it is installed, so that the agent runs it once. It exits with 0 whatever
// happens. A Go program that dies (no memory, no thread, no descriptor) exits with 2, by
// which a hook forbids what its agent is about to do. Copilot CLI also runs the hooks of
// a project's .claude/settings.json, and denies each tool for any other code, as where a
// colleague's machine has no Umbra.
func HookCommand(binary, agent string) string {
	if binary == "" {
		return ""
	}
	return home.ShellQuote(binary) + " hook " + agent + " || exit 0"
}

// ToolServer is the command of the server that gives an agent Umbra's tools; empty for a
// program that has no lasting path.
func ToolServer(binary string) []string {
	if binary == "" {
		return nil
	}
	return []string{binary, "mcp"}
}

// toolServer is the server for a launch; empty where the user wants none.
func toolServer(config settings.Config, r missions.LaunchRequest) sessions.Server {
	if !config.Hooks.MCP {
		return sessions.Server{}
	}
	return sessions.Server{Command: ToolServer(r.Caller.Binary), Variables: r.Variables}
}

// HasSessionFile reports whether the mission has a session file that holds anything.
func (l *Launcher) HasSessionFile(m *projects.Mission, a sessions.Adapter) (bool, error) {
	if m.Stored.Session == "" || m.Binding.SessionPath == "" {
		return false, nil
	}
	conversations.FindSessionFile(m, a)
	s, err := a.Open(m.Binding.SessionPath)
	switch {
	case errors.Is(err, sessions.ErrNoSession), errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("session of %s: %w", m.Name, err)
	}
	return s.Size > 0, nil
}
