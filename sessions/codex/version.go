package codex

import (
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

var _ sessions.Versioned = Adapter{}

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "", "0.169.0" }

// Client implements sessions.Versioned. Only the first line names a version: that
// which began the session.
func (Adapter) Client(path string) string {
	_, rest, _ := strings.Cut(head(path), `"cli_version":"`)
	version, _, ended := strings.Cut(rest, `"`)
	if !ended {
		return ""
	}
	return version
}

// headSize is how much of a rollout is looked at for who began it: that stands
// before the instructions, which make the first line long.
const headSize = 2048

// head is the beginning of a rollout's first line, "" if there is none.
func head(path string) string {
	if path == "" {
		return ""
	}
	f, _, err := sessions.OpenFile(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, headSize)
	n, _ := f.Read(b)
	line, _, _ := strings.Cut(string(b[:n]), "\n")
	before, _, _ := strings.Cut(line, `"base_instructions"`)
	return before
}
