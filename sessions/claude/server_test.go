package claude

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestServer: Umbra's tools are handed to a launch beside the user's servers, and not
// where the command wants its own alone.
func TestServer(t *testing.T) {
	t.Parallel()
	const ours = `--mcp-config {"mcpServers":{"umbra":{"command":"/usr/bin/umbra","args":["mcp"]}}}`
	for command, want := range map[string]string{
		"claude":                                   ours,
		"claude --print":                           ours + " --print",
		"claude --mcp-config mine.json --print":    ours + " --mcp-config mine.json --print",
		"claude --strict-mcp-config --print":       "--strict-mcp-config --print",
		"claude --bare":                            "--bare",
		"claude --version":                         "--version",
		"claude mcp list":                          "mcp list",
		"claude --allowedTools Bash Edit -- do it": ours + " --allowedTools Bash Edit -- do it",
	} {
		c, err := Adapter{}.Launch(sessions.Launch{Command: strings.Fields(command), Fresh: true, Server: sessions.Server{Command: []string{"/usr/bin/umbra", "mcp"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(c.Argv[1:], " "); got != want {
			t.Errorf("%s: %s\nwant %s", command, got, want)
		}
	}
	c, err := Adapter{}.Launch(sessions.Launch{Command: []string{"claude"}})
	if err != nil || slices.Contains(c.Argv, "--mcp-config") {
		t.Errorf("without a server: %q, %v", c.Argv, err)
	}
}

// TestOwnTools: Umbra's own tools ask for no snapshot before them, as another server's do.
func TestOwnTools(t *testing.T) {
	t.Parallel()
	for name, reads := range map[string]bool{"mcp__umbra__snapshot": true, "mcp__other__snapshot": false, "mcp__umbrage__x": false, "Read": true, "Write": false} {
		if isReader(name) != reads {
			t.Errorf("%s reads: %v", name, !reads)
		}
	}
}
