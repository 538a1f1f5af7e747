package copilot

import (
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"path", "file_path", "command", "pattern", "query", "url", "description", "prompt"}

// A tool is called one way in a conversation and, where Claude Code has one of its kind,
// as that in what hooks are told.
var (
	writers   = []string{"create", "edit", "Write", "Edit"}
	patchers  = []string{"apply_patch", "ApplyPatch"}
	questions = []string{"ask_user", "AskUserQuestion"}
)

// readers are the tools that change no file of the workspace. Every other tool, a foreign
// one above all, is taken to write.
func readers() []string {
	return slices.Concat(questions, []string{
		"view", "grep", "glob", "Read", "Grep", "Glob", "read_bash", "list_bash", "report_intent", "fetch_copilot_cli_documentation",
		"session_store_sql", "sql", "read_agent", "list_agents", "web_fetch", "web_search", "WebFetch", "WebSearch",
	})
}

// wholeTarget is the file or command that a call acts on.
func wholeTarget(name string, input []byte) string {
	if files := filesOf(name, input); len(files) > 0 {
		return files[0]
	}
	return jsontext.First(input, targets...)
}

// filesOf are the files that a call is about to write, nil where its own work is another.
func filesOf(name string, input []byte) []string {
	switch {
	case slices.Contains(patchers, name):
		if patch := jsontext.Text(input); patch != "" {
			return sessions.Patched(patch)
		}
		return sessions.Patched(jsontext.First(input, "input", "patch", "command"))
	case slices.Contains(writers, name):
		if file := jsontext.First(input, "path", "file_path"); file != "" {
			return []string{file}
		}
	}
	return nil
}

// callOf is the call that an answer asks for.
func callOf(request []byte) sessions.Tool {
	name, input := jsontext.Text(jsontext.Lookup(request, "name")), jsontext.Lookup(request, "arguments")
	whole := wholeTarget(name, input)
	return sessions.Tool{
		ID: jsontext.Text(jsontext.Lookup(request, "toolCallId")), Name: name, Target: sessions.Brief(whole), Whole: whole,
		Description: sessions.Brief(jsontext.Description(input)),
	}
}
