package claude

import (
	"strings"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"file_path", "notebook_path", "command", "path", "pattern", "url", "query", "skill", "description", "prompt"}

const maxTarget = 200 // bytes of a target kept for people

// target is the file or command a tool call acts on.
func target(input []byte) string {
	found := make([][]byte, len(targets))
	c := jsontext.Walk(input)
	for {
		key, value, ok := c.Member()
		if !ok {
			break
		}
		for i, name := range targets {
			if string(key) == name {
				found[i] = value
			}
		}
	}
	for _, value := range found {
		if s := jsontext.Text(value); s != "" {
			return firstLine(s)
		}
	}
	return ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > maxTarget {
		s = s[:maxTarget]
		for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	return s
}

// readers are the tools that change no file of the workspace. Every other tool,
// a foreign one above all, is taken to write.
var readers = map[string]bool{
	"Read": true, "Glob": true, "Grep": true, "LS": true, "NotebookRead": true,
	"WebFetch": true, "WebSearch": true, "ToolSearch": true,
	"TodoRead": true, "TodoWrite": true,
	"TaskCreate": true, "TaskGet": true, "TaskList": true, "TaskUpdate": true, "TaskOutput": true,
	"BashOutput": true, "AskUserQuestion": true, "EnterPlanMode": true, "ExitPlanMode": true,
	"ListMcpResourcesTool": true, "ReadMcpResourceTool": true,
}

// writers are the tools that write one file, and the input that names it.
var writers = map[string]string{"Write": "file_path", "Edit": "file_path", "MultiEdit": "file_path", "NotebookEdit": "notebook_path"}

func toolOf(l line, b block) sessions.Tool {
	return sessions.Tool{ID: b.id, Name: jsontext.Text(b.name), Target: target(b.input), At: l.at(), Agent: string(l.agent)}
}
