package qwen

import (
	"cmp"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"file_path", "notebook_path", "absolute_path", "command", "path", "pattern", "url", "query", "skill", "description", "prompt"}

// wholeTarget is the file or command that a call acts on, or what it asks.
func wholeTarget(input []byte) string {
	return cmp.Or(jsontext.First(input, targets...), hooks.Question(input))
}

// writers are the tools whose own work it is to write one file, and the input that names it.
var writers = map[string]string{"write_file": "file_path", "edit": "file_path", "notebook_edit": "notebook_path"}

// isReader reports whether a tool changes no file of the workspace. Every other tool, a
// foreign one above all, is taken to write.
func isReader(tool string) bool {
	return slices.Contains([]string{
		"read_file", "zoom_image", "grep_search", "glob", "list_directory", "lsp", "web_fetch", "web_search", "tool_search", "read_mcp_resource",
		"todo_write", "skill", "ask_user_question", "enter_plan_mode", "exit_plan_mode", "task_create", "task_update", "task_list", "list_agents",
		"cron_create", "cron_list", "cron_delete", "get_goal", "update_goal",
	}, tool)
}

// called is the call that a part of an answer holds.
func called(call []byte) sessions.Tool {
	input := jsontext.Lookup(call, "args")
	whole := wholeTarget(input)
	return sessions.Tool{
		ID: jsontext.Text(jsontext.Lookup(call, "id")), Name: jsontext.Text(jsontext.Lookup(call, "name")),
		Target: sessions.Brief(whole), Whole: whole, Description: sessions.Brief(jsontext.Description(input)),
	}
}
