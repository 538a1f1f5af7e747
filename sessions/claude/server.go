package claude

import (
	"encoding/json"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
)

// server is a server of tools in a configuration, as the option and the files of Claude
// Code name one.
type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// addServer hands Umbra's tools to this launch: by an option that adds to the servers of
// the user's, and to what the command names by it. A command that wants its own servers
// alone, or that runs no session here, is left as it is.
func (l *launch) addServer() {
	if len(l.o.Server.Command) == 0 || l.args.Has("--strict-mcp-config") || l.args.Has(slices.Concat(unhooked, elsewhere)...) {
		return
	}
	config, err := json.Marshal(map[string]map[string]server{"mcpServers": {
		sessions.ServerName: {Command: l.o.Server.Command[0], Args: l.o.Server.Command[1:]},
	}})
	if err == nil {
		l.args = l.args.First("--mcp-config", string(config))
	}
}
