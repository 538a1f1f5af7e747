package hooks

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// AddServer adds a server of tools under key, where settings name servers, and gives
// Umbra's this command. theirs reports another one of that name, which stays. The settings
// are those of a file that has hooks already.
func AddServer(settings []byte, key string, command []string) (out []byte, theirs bool, err error) {
	root, err := parseObject(settings)
	if err != nil {
		return nil, false, err
	}
	l := layoutOf(settings, root)
	one := func(indent string, l layout) string {
		words := make([]string, len(command)-1)
		for i, word := range command[1:] {
			words[i] = quoted(word)
		}
		return quoted(sessions.ServerName) + l.colon() + l.object(indent, []string{
			`"command"` + l.colon() + quoted(command[0]), `"args"` + l.colon() + "[" + strings.Join(words, ", ") + "]",
		})
	}
	servers, ok := root.get(key)
	switch {
	case !ok:
		return insertLast(settings, root, l, func(indent string, l layout) string {
			return quoted(key) + l.colon() + l.wrap('{', '}', indent, one)
		}), false, nil
	case !servers.is(settings, '{'):
		return settings, true, nil
	}
	at, ok := servers.get(sessions.ServerName)
	if !ok {
		return insertLast(settings, servers, l, one), false, nil
	}
	its, ours := serverCommand(settings, at)
	switch {
	case !ours:
		return settings, true, nil
	case its.string(settings) == command[0]:
		return settings, false, nil
	}
	return splice(settings, its.start, its.end, quoted(command[0])), false, nil
}

// DropServer takes Umbra's server out again, with the object of servers if that was made
// for it.
func DropServer(settings []byte, key string) ([]byte, error) {
	root, err := parseObject(settings)
	if err != nil {
		return nil, err
	}
	servers, ok := root.get(key)
	if !ok || !servers.is(settings, '{') {
		return settings, nil
	}
	i := slices.IndexFunc(servers.items, func(it item) bool {
		_, ours := serverCommand(settings, it.value)
		return it.key == sessions.ServerName && ours
	})
	if i < 0 {
		return settings, nil
	}
	out := removeItem(settings, servers, i)
	if !madeEmpty(settings, out, servers) {
		return out, nil
	}
	at := slices.IndexFunc(root.items, func(it item) bool { return it.value.start == servers.start })
	if root, err = parseObject(out); err != nil {
		return nil, err
	}
	return removeItem(out, root, at), nil
}

// serverCommand is the program of a server as AddServer writes it.
func serverCommand(b []byte, n node) (program node, ours bool) {
	if !n.is(b, '{') || len(n.items) != 2 {
		return node{}, false
	}
	args, _ := n.get("args")
	program, ok := n.get("command")
	ours = ok && len(args.items) == 1 && args.items[0].value.string(b) == "mcp" && sessions.Program(program.string(b)) == "umbra"
	return program, ours
}

// ServerConfig is a configuration that has Umbra's server of tools, with this command, as an
// option of a command line takes one.
func ServerConfig(command []string) string {
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	config, _ := json.Marshal(map[string]map[string]server{"mcpServers": {
		sessions.ServerName: {Command: command[0], Args: command[1:]},
	}}) // strings always marshal
	return string(config)
}
