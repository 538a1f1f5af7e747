package hooks

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

const (
	// refreshKey names how often the agent runs the command though nothing happens, in
	// seconds: a question to a user who is away comes then. Claude Code has it, and looks
	// past it where it is too old to know it.
	refreshKey     = "refreshInterval"
	refreshSeconds = "30"
)

// AddStatusLine adds a status line of that command to settings that have none
// under key, and gives Umbra's this command. theirs reports one of the user's own,
// which stays. The settings are those of a file that has hooks already.
func AddStatusLine(settings []byte, key, command string) (out []byte, theirs bool, err error) {
	root, err := parseObject(settings)
	if err != nil {
		return nil, false, err
	}
	if at, ok := root.get(key); ok {
		its, ours := statusCommand(settings, at)
		if !ours {
			return settings, true, nil
		}
		if _, ok := at.get(refreshKey); !ok { // below the command, whose place stays
			settings = insertLast(settings, at, layoutOf(settings, root), func(_ string, l layout) string {
				return quoted(refreshKey) + l.colon() + refreshSeconds
			})
		}
		if its.string(settings) == command {
			return settings, false, nil
		}
		return splice(settings, its.start, its.end, quoted(command)), false, nil
	}
	return insertLast(settings, root, layoutOf(settings, root), func(indent string, l layout) string {
		return quoted(key) + l.colon() + l.object(indent, []string{
			`"type"` + l.colon() + `"command"`, `"command"` + l.colon() + quoted(command),
			quoted(refreshKey) + l.colon() + refreshSeconds,
		})
	}), false, nil
}

// DropStatusLine takes Umbra's status line out again.
func DropStatusLine(settings []byte, key string) ([]byte, error) {
	root, err := parseObject(settings)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(root.items, func(it item) bool {
		_, ours := statusCommand(settings, it.value)
		return it.key == key && ours
	})
	if i < 0 {
		return settings, nil
	}
	return removeItem(settings, root, i), nil
}

func parseObject(b []byte) (node, error) {
	root, err := parseTree(b)
	if err != nil {
		return root, fmt.Errorf("settings: %w", err)
	}
	if !root.is(b, '{') {
		return root, errors.New("settings: not a JSON object")
	}
	return root, nil
}

// statusCommand is the command of a status line as AddStatusLine writes it, or once wrote
// it. How often it is run is the user's to change.
func statusCommand(b []byte, n node) (command node, ours bool) {
	known := 2
	if _, ok := n.get(refreshKey); ok {
		known++
	}
	if !n.is(b, '{') || len(n.items) != known {
		return node{}, false
	}
	command, ok := n.get("command")
	if !ok {
		return node{}, false
	}
	word, rest, ok := shellWord(command.string(b))
	return command, ok && sessions.Program(word) == "umbra" && strings.Join(strings.Fields(rest), " ") == "status --statusline"
}
