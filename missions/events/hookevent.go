package events

import (
	"crypto/sha1"
	"encoding/hex"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// compactSource is the source of a session's start that is none: its conversation was
// summed up.
const compactSource = "compact"

// lifecycleEvent is what an agent's event means for a mission's lifecycle.
func lifecycleEvent(e sessions.Event) (missions.Event, bool) {
	tool := missions.ToolUse{ID: e.Tool.ID, Name: e.Tool.Name, Target: e.Tool.Target, At: e.Tool.At}
	asked := missions.PermissionAsked{Permission: missions.Permission{ID: tool.ID, Tool: tool.Name, Target: tool.Target, At: tool.At}}
	switch e.Kind {
	case sessions.KindSessionStart:
		return missions.SessionBegan{}, e.Source != compactSource
	case sessions.KindPrompt:
		return missions.PromptSubmitted{Text: e.Prompt, ID: e.PromptID}, true
	case sessions.KindGoesOn:
		return missions.TurnContinued{ID: e.PromptID}, true
	case sessions.KindToolBefore:
		if e.Asks {
			return asked, true
		}
		return missions.ToolStarting{Tool: tool, Writes: e.Writes}, true
	case sessions.KindToolAfter, sessions.KindToolBatch:
		return missions.ToolFinished{Tool: tool}, true
	case sessions.KindPermission:
		return asked, true
	case sessions.KindAnswered:
		return missions.PermissionAnswered{ID: tool.ID}, true
	case sessions.KindStop:
		if e.Stopped {
			return missions.TurnStopped{}, true
		}
		return missions.TurnEnded{Background: e.Background}, true
	case sessions.KindError:
		return missions.TurnFailed{Message: e.Message}, true
	case sessions.KindSessionEnd:
		if e.Reason == "clear" || e.Reason == "resume" {
			return nil, false // the agent goes on with another session
		}
		return missions.SessionEnded{}, true
	}
	return nil, false
}

// eventID names an event that hooks may report twice.
func eventID(e sessions.Event) string {
	switch {
	case (e.Kind == sessions.KindPrompt || e.Kind == sessions.KindGoesOn) && e.PromptID != "":
		// What is typed during a turn has that turn's id.
		text := sha1.Sum([]byte(e.Prompt))
		return e.SessionID + " " + e.PromptID + " " + hex.EncodeToString(text[:8])
	case e.Kind == sessions.KindPermission || e.Kind == sessions.KindAnswered:
		return "" // a call may be asked about more than once
	case e.Tool.ID != "" && e.Kind != sessions.KindToolBatch:
		return string(e.Kind) + " " + e.Tool.ID
	}
	return ""
}
