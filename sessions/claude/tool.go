package claude

import (
	"cmp"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"file_path", "notebook_path", "command", "path", "pattern", "url", "query", "skill", "description", "prompt"}

// target is the file or command a tool call acts on, or what it asks.
func target(input []byte) string { return sessions.Brief(wholeTarget(input)) }

func wholeTarget(input []byte) string {
	return cmp.Or(jsontext.First(input, targets...), hooks.Question(input))
}

// asks are the tools by which it asks its user.
var asks = map[string]bool{"AskUserQuestion": true, "ExitPlanMode": true}

// readers are the tools that change no file of the workspace. Every other tool,
// a foreign one above all, is taken to write.
var readers = map[string]bool{
	"Read": true, "Glob": true, "Grep": true, "NotebookRead": true,
	"WebFetch": true, "WebSearch": true, "ToolSearch": true,
	"TodoWrite":  true,
	"TaskCreate": true, "TaskGet": true, "TaskList": true, "TaskUpdate": true, "TaskOutput": true,
	"BashOutput": true, "AskUserQuestion": true, "EnterPlanMode": true, "ExitPlanMode": true,
	"ListMcpResourcesTool": true, "ReadMcpResourceTool": true,
}

// ownTools begin the names of those that Umbra's server gives it, as launches name it. They
// change a file only when the user says so, and keep it in a snapshot themselves.
const ownTools = "mcp__" + sessions.ServerName + "__"

// isReader reports whether a tool changes no file of the workspace.
func isReader(name string) bool { return readers[name] || strings.HasPrefix(name, ownTools) }

// writers are the tools that write one file, and the input that names it.
var writers = map[string]string{"Write": "file_path", "Edit": "file_path", "NotebookEdit": "notebook_path"}

func toolOf(l line, b block) sessions.Tool {
	whole := wholeTarget(b.input)
	return sessions.Tool{ID: b.id, Name: jsontext.Text(b.name), Target: sessions.Brief(whole), Whole: whole, Description: sessions.Brief(jsontext.Description(b.input)), At: l.at(), Agent: string(l.agent)}
}

// exitCode is the exit code in the result of a command that failed: the client begins it
// with that. It tells none of a command that has not.
func (b block) exitCode() string {
	if !b.fail {
		return ""
	}
	return sessions.ExitCode(b.result[:min(len(b.result), mostBeforeExit)], `"Exit code `)
}

// mostBeforeExit is how far into a result its exit code may stand.
const mostBeforeExit = 64
