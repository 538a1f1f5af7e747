package gemini

import (
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// Reply is what the hook prints; nothing if there is nothing to say. The client
// is told to refuse a tool as it is told to refuse a prompt. Context goes in with
// a prompt alone: with a session's start the client puts it before the prompt of
// a run without a terminal, and then takes that prompt for its own words when it
// resumes.
func (Adapter) Reply(e sessions.Event, a sessions.Answer) []byte {
	switch e.Kind {
	case sessions.KindSessionStart:
		a.Context = ""
	case sessions.KindToolBefore:
		e.Kind, a.Context = sessions.KindPrompt, ""
	}
	return hooks.Reply(e, a)
}
