package claude

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// addServer hands Umbra's tools to this launch: by an option that adds to the servers of
// the user's, and to what the command names by it. A command that wants its own servers
// alone, or that runs no session here, is left as it is.
func (l *launch) addServer() {
	if len(l.o.Server.Command) == 0 || l.args.Has("--strict-mcp-config") || l.args.Has(slices.Concat(unhooked, elsewhere)...) {
		return
	}
	l.args = l.args.First("--mcp-config", hooks.ServerConfig(l.o.Server.Command))
}

// Servers are the user's servers of tools, as Claude Code keeps them.
type Servers struct{}

var _ sessions.Enlisting = Servers{}

// Agent implements sessions.Enlisting.
func (Servers) Agent() string { return Adapter{}.Name() }

// ServerFile implements sessions.Enlisting.
func (Servers) ServerFile(env sessions.Environ) string {
	if dir := env.Vars[varConfigDir]; dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(env.Home, ".claude.json")
}

// EnlistedServer implements sessions.Enlisting.
func (Servers) EnlistedServer(content []byte) (command []string, there bool, err error) {
	if len(bytes.TrimSpace(content)) == 0 {
		return nil, false, nil
	}
	var file struct {
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(content, &file); err != nil {
		return nil, false, err
	}
	server, there := file.Servers[sessions.ServerName]
	if server.Command == "" {
		return nil, there, nil
	}
	return append([]string{server.Command}, server.Args...), there, nil
}

// EnlistServer implements sessions.Enlisting: servers have the environment of the agent.
func (Servers) EnlistServer(_ sessions.Environ, _ string, command []string) sessions.OwnCommand {
	return quietly(append([]string{"mcp", "add", "--scope", "user", sessions.ServerName, "--"}, command...))
}

// DismissServer implements sessions.Enlisting.
func (Servers) DismissServer() sessions.OwnCommand {
	return quietly([]string{"mcp", "remove", "--scope", "user", sessions.ServerName})
}

// quietly is a command of Claude Code that asks the network for nothing.
func quietly(args []string) sessions.OwnCommand {
	return sessions.OwnCommand{Args: args, Env: map[string]string{"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}}
}
