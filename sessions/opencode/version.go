package opencode

import (
	"bytes"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

var _ sessions.Versioned = Adapter{}

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "", "1.18.33" }

// headSize is how much of a session's file is searched for its own first line.
const headSize = 64 << 10

// Client implements sessions.Versioned. OpenCode says of a session which version
// began it, in the line that its file begins with.
func (Adapter) Client(path string) string {
	f, _, err := sessions.OpenFile(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil {
		return ""
	}
	first, _, ended := bytes.Cut(head, []byte("\n"))
	if l, ok := parseLine(first); ended && ok && l.kind == typeSession {
		return jsontext.Text(jsontext.Lookup(l.value, "version"))
	}
	return ""
}
