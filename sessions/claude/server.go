package claude

import (
	"slices"

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
