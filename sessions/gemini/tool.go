package gemini

import (
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"file_path", "absolute_path", "command", "dir_path", "path", "pattern", "url", "query", "objective", "description", "prompt"}

// target is the file or command a tool call acts on.
func target(args []byte) string { return sessions.Brief(wholeTarget(args)) }

func wholeTarget(args []byte) string { return jsontext.First(args, targets...) }

// writers are the tools whose own work it is to write the file they name.
var writers = map[string]bool{"write_file": true, "replace": true}

// readers are the tools that change no file of the workspace. Every other tool,
// a foreign one above all, is taken to write.
var readers = map[string]bool{
	"read_file": true, "read_many_files": true, "list_directory": true, "glob": true,
	"grep_search": true, "search_file_content": true, "google_web_search": true, "web_fetch": true,
	"write_todos": true, "ask_user": true, "get_internal_docs": true, "activate_skill": true,
	"enter_plan_mode": true, "exit_plan_mode": true, "update_topic": true,
}
