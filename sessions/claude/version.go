package claude

import (
	"bytes"
	"io"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// versionTail is how much of a session's end is searched for a version, which
// nearly every line has.
const versionTail = 64 << 10

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "2.0.77", "2.1.329" }

// Forgets implements sessions.Forgetting. 2.0 sends to the model what a hook adds, and does
// not write it down.
func (c Adapter) Forgets(path string) bool { return strings.HasPrefix(c.Client(path), "2.0.") }

// Client implements sessions.Versioned.
func (Adapter) Client(path string) string {
	f, info, err := sessions.OpenFile(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	from := max(0, info.Size()-versionTail)
	p, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return ""
	}
	for end := len(p); end > 0; {
		begin := bytes.LastIndexByte(p[:end-1], '\n') + 1
		if line := p[begin:end]; bytes.Contains(line, []byte(`"version"`)) {
			if v := jsontext.Text(jsontext.Lookup(bytes.TrimSpace(line), "version")); v != "" {
				return v
			}
		}
		end = begin
	}
	return ""
}
