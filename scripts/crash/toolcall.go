package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// toolCaller calls one tool of Umbra's over MCP, as an agent does, and prints the answer:
// caller TOOL ARGUMENTS. The server's stdin stays open until it has answered, since its end
// interrupts what runs.
const toolCaller = `#!/bin/sh
answered=$(mktemp -u) && mkfifo "$answered"
trap 'rm -f "$answered"' EXIT
{
	echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.0"}}}'
	echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
	echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"'}}'
	read -r _ <"$answered"
} | %q mcp | {
	while read -r line; do
		case $line in *'"id":2'*) printf '%%s\n' "$line"; break ;; esac
	done
	echo >"$answered"
}
`

// makeToolCaller makes the program for the stage's agent.
func (s *stage) makeToolCaller() error {
	return os.WriteFile(s.toolCaller(), fmt.Appendf(nil, toolCaller, s.umbra.Binary), 0o755)
}

func (s *stage) toolCaller() string { return filepath.Join(s.umbra.Base, "bin", "call") }

// answers is where the tool answers that an agent called last.
func (s *stage) answers() string { return filepath.Join(s.umbra.Base, "answer") }

// calling is the prompt whose agent calls a tool in its turn. As with every prompt of a stage,
// the workspace tells of it.
func (s *stage) calling(tool, arguments string) string {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
	return fmt.Sprintf("! echo %s >>notes.txt; %s %s %s >%s", tool, quote(s.toolCaller()), tool, quote(arguments), quote(s.answers()))
}
