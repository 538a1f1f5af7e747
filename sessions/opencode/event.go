package opencode

import (
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// Answers says that the plugin tells of answers.
func (Adapter) Answers() {}

// Event reads what the plugin tells.
func (Adapter) Event(_ sessions.Environ, _ string, data []byte) (sessions.Event, error) {
	return hooks.Told{IsID: isID, Target: wholeTarget, Readers: readers(), Files: filesOf}.Event(data)
}

// Reply implements sessions.Adapter.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte { return hooks.Plain(e, a) }
