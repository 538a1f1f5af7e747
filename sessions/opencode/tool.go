package opencode

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// targets are the inputs that name what a tool acts on, the first found wins.
var targets = []string{"filePath", "command", "path", "pattern", "url", "query", "description", "prompt"}

const maxTarget = 200 // bytes of a target kept for people

// target is the file or command a tool call acts on.
func target(input []byte) string {
	for _, name := range targets {
		if s := jsontext.Text(jsontext.Lookup(input, name)); s != "" {
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
	"read": true, "glob": true, "grep": true, "list": true, "webfetch": true, "websearch": true, "codesearch": true,
	"todowrite": true, "todoread": true, "question": true, "skill": true, "lsp": true, "invalid": true,
	"plan_enter": true, "plan_exit": true,
}

// writers are the tools whose own work it is to write the file their input names.
var writers = []string{"write", "edit", "multiedit"}

// toolOf is the call that a part holds.
func toolOf(p part, at time.Time) sessions.Tool {
	t := sessions.Tool{ID: p.call, Name: jsontext.Text(p.tool), Target: target(jsontext.Lookup(p.state, "input")), At: at}
	if start := instant(jsontext.Lookup(jsontext.Lookup(p.state, "time"), "start")); !start.IsZero() {
		t.At = start
	}
	t.Done, t.Failed = !p.open(), p.status() == "error"
	return t
}
