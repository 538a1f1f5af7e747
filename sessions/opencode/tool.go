package opencode

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"filePath", "command", "path", "pattern", "url", "query", "description", "prompt"}

// wholeTarget is the files or the command that a call acts on, or what it asks: a patch has
// several files.
func wholeTarget(input []byte) string {
	return cmp.Or(strings.Join(sessions.Patched(patch(input)), "\n"), jsontext.First(input, targets...), hooks.Question(input))
}

// patch is the text that apply_patch is given.
func patch(input []byte) string { return jsontext.Text(jsontext.Lookup(input, "patchText")) }

// readers are the tools that change no file of the workspace. Every other tool,
// a foreign one above all, is taken to write.
func readers() []string {
	return []string{
		"read", "glob", "grep", "list", "webfetch", "websearch", "codesearch", "todowrite", "todoread", "question", "skill", "lsp", "invalid",
		"plan_enter", "plan_exit",
	}
}

// writers are the tools whose own work it is to write the file their input names.
var writers = []string{"write", "edit", "multiedit"}

// filesOf are the files that a call is about to write, nil where its own work is
// another.
func filesOf(tool string, input []byte) []string {
	if tool == "apply_patch" {
		return sessions.Patched(patch(input))
	}
	file := jsontext.Text(jsontext.Lookup(input, "filePath"))
	if file == "" || !slices.Contains(writers, tool) {
		return nil
	}
	return []string{file}
}

// toolOf is the call that a part holds.
func toolOf(p part, at time.Time) sessions.Tool {
	whole := wholeTarget(jsontext.Lookup(p.state, "input"))
	t := sessions.Tool{ID: p.call, Name: jsontext.Text(p.tool), Target: sessions.Brief(whole), Whole: whole, At: at}
	if start := instant(jsontext.Lookup(jsontext.Lookup(p.state, "time"), "start")); !start.IsZero() {
		t.At = start
	}
	t.Done, t.Failed = !p.open(), p.status() == "error"
	t.Exit = sessions.ExitCode(jsontext.Lookup(jsontext.Lookup(p.state, "metadata"), "exit"), "")
	return t
}
