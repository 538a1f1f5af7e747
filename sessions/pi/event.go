package pi

import (
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// Answers says that the extension tells of answers.
func (Adapter) Answers() {}

// Event reads what the extension tells.
func (Adapter) Event(_ sessions.Environ, _ string, data []byte) (sessions.Event, error) {
	return hooks.Told{IsID: isID, Target: wholeTarget, Readers: readers(), Files: filesOf}.Event(data)
}

// Reply implements sessions.Hooked.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte { return hooks.Plain(e, a) }
