package projects

import (
	"slices"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// TrackOpenCalls keeps the calls of the turn whose end was not heard yet. Not each is told: the
// next prompt forgets them.
func (l *TurnState) TrackOpenCalls(e sessions.Event) {
	ended := func(t missions.ToolUse) bool {
		return t.ID == e.Tool.ID && (t.ID != "" || t.Name == e.Tool.Name || e.Tool.Name == "")
	}
	switch e.Kind {
	case sessions.KindPrompt:
		l.OpenTools = nil
	case sessions.KindToolBefore:
		l.OpenTools = append(l.OpenTools, *l.LastTool)
		l.OpenTools = l.OpenTools[max(0, len(l.OpenTools)-maxSeenEvents):]
	case sessions.KindToolAfter:
		l.OpenTools = slices.DeleteFunc(l.OpenTools, ended)
	}
}
