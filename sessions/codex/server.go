package codex

import (
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// addServer hands Umbra's tools to this launch: by a value of the configuration, beside
// the servers that the user has there.
func (l *launch) addServer() {
	if len(l.o.Server.Command) == 0 {
		return
	}
	l.before = l.before.First("--config", "mcp_servers."+sessions.ServerName+"="+l.server())
}

// server is the server of tools as TOML. Codex gives servers few variables of its own
// environment: those that name the mission are said here. The others are named, since the
// server may launch a fork's agent, which needs what this one has: a key, a proxy.
func (l *launch) server() string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(l.o.Marks)) {
		env = append(env, name+"="+quoted(l.o.Marks[name]))
	}
	args := make([]string, len(l.o.Server.Command)-1)
	for i, word := range l.o.Server.Command[1:] {
		args[i] = quoted(word)
	}
	names := slices.Concat([]string{varHome, "UMBRA_NO_DAEMON", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"}, l.o.Server.Variables)
	slices.Sort(names)
	var passed []string
	for _, name := range slices.Compact(names) {
		if _, said := l.o.Marks[name]; !said && !strings.ContainsFunc(name, isNoTOML) {
			passed = append(passed, quoted(name))
		}
	}
	return "{command=" + quoted(l.o.Server.Command[0]) + ",args=[" + strings.Join(args, ",") + "],env={" + strings.Join(env, ",") + "},env_vars=[" + strings.Join(passed, ",") + "]}"
}

// isNoTOML reports whether a character needs more care in TOML than it has in JSON. No
// variable that anybody relies on has one in its name.
func isNoTOML(r rune) bool { return r <= ' ' || r > '~' }

// quoted is a string of TOML, which takes those of JSON.
func quoted(s string) string { return string(jsontext.Quote(s)) }

// Servers are the user's servers of tools, as Codex keeps them.
type Servers struct{}

var _ sessions.Enlisting = Servers{}

// Agent implements sessions.Enlisting.
func (Servers) Agent() string { return Adapter{}.Name() }

// ServerFile implements sessions.Enlisting.
func (Servers) ServerFile(env sessions.Environ) string { return Adapter{}.configFile(env) }

// EnlistedServer implements sessions.Enlisting.
func (Servers) EnlistedServer(content []byte) (command []string, there bool, err error) {
	var file struct {
		Servers map[string]struct {
			Command string   `toml:"command"`
			Args    []string `toml:"args"`
		} `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(content, &file); err != nil {
		return nil, false, err
	}
	server, there := file.Servers[sessions.ServerName]
	if server.Command == "" {
		return nil, there, nil
	}
	return append([]string{server.Command}, server.Args...), there, nil
}

// EnlistServer implements sessions.Enlisting: the variables by which Umbra finds its directory,
// and this agent's, are said, since Codex gives servers few of its own.
func (Servers) EnlistServer(env sessions.Environ, home string, command []string) sessions.OwnCommand {
	args := []string{"mcp", "add", sessions.ServerName, "--env", "UMBRA_HOME=" + home}
	for _, name := range []string{varHome, "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"} {
		if value := env.Vars[name]; value != "" {
			args = append(args, "--env", name+"="+value)
		}
	}
	return sessions.OwnCommand{Args: append(append(args, "--"), command...)}
}

// DismissServer implements sessions.Enlisting.
func (Servers) DismissServer() sessions.OwnCommand {
	return sessions.OwnCommand{Args: []string{"mcp", "remove", sessions.ServerName}}
}
