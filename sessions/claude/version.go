package claude

import (
	"strings"

	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "2.0.77", "2.1.329" }

// Forgets implements sessions.Forgetting. 2.0 sends to the model what a hook adds, and does
// not write it down.
func (c Adapter) Forgets(path string) bool { return strings.HasPrefix(c.Client(path), "2.0.") }

// Client implements sessions.Versioned.
func (Adapter) Client(path string) string { return jsonlines.NewestText(path, "version") }
