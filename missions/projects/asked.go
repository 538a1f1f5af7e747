package projects

import (
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
)

// Action is a restore, undo or redo that somebody has asked for: exactly one
// member is set. It is kept in a mission's live state while it waits for the end
// of a turn or of the agent.
type Action struct {
	Restore *missions.RestoreRequest `json:"restore,omitempty"` // its moment is the id of a snapshot
	Undo    *missions.UndoRequest    `json:"undo,omitempty"`
	Redo    *missions.UndoRequest    `json:"redo,omitempty"`
}

// String is how the user would say it.
func (a Action) String() string {
	if a.Restore != nil {
		return fmt.Sprintf("restore %.10s", a.Restore.Moment)
	}
	return a.Kind()
}

func (a Action) Kind() string {
	switch {
	case a.Restore != nil:
		return "restore"
	case a.Undo != nil:
		return "undo"
	}
	return "redo"
}
