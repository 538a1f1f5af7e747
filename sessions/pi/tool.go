package pi

import (
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"path", "file_path", "command", "pattern", "query", "url", "description", "prompt"}

// wholeTarget is the file or command that a call acts on.
func wholeTarget(input []byte) string { return jsontext.First(input, targets...) }

// readers are the tools that change no file of the workspace. Every other tool, a foreign
// one above all, is taken to write.
func readers() []string { return []string{"read", "grep", "find", "ls", "tool_search"} }

// writers are the tools whose own work it is to write the file their input names.
var writers = []string{"write", "edit"}

// filesOf are the files that a call is about to write, nil where its own work is another.
func filesOf(tool string, input []byte) []string {
	file := jsontext.First(input, "path", "file_path")
	if file == "" || !slices.Contains(writers, tool) {
		return nil
	}
	return []string{file}
}

// callOf is the call that a block of an answer holds.
func callOf(block []byte) sessions.Tool {
	whole := wholeTarget(jsontext.Lookup(block, "arguments"))
	return sessions.Tool{
		ID: jsontext.Text(jsontext.Lookup(block, "id")), Name: jsontext.Text(jsontext.Lookup(block, "name")),
		Target: sessions.Brief(whole), Whole: whole,
	}
}
