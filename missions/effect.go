package missions

import "time"

// Effect is something to be done because of an event: one of the types below.
type Effect interface{ effect() }

// TakeSnapshot asks for a snapshot. It carries the lifecycle that the snapshot is of,
// since one event may ask for two: the turn that ended unseen, and the next.
type TakeSnapshot struct {
	Trigger   Trigger   `json:"trigger"`
	Lifecycle Lifecycle `json:"-"`
	Message   string    `json:"what"` // what happened, for the subject
	// OnlyIfChanged lets the request be answered by the newest snapshot if
	// nothing is new. A change of state is always committed.
	OnlyIfChanged bool `json:"only_if_changed,omitempty"`
	// GrowthMayWait lets the request be answered by the newest snapshot if files have
	// only grown since then, as logs do.
	GrowthMayWait bool `json:"-"`
	// Typed is what the user typed then while the agent worked, whole.
	Typed string `json:"typed,omitempty"`
	// UserMessage says that the user wrote Message.
	UserMessage bool `json:"named,omitempty"`
	// Late marks a moment that was noticed after it had passed.
	Late bool `json:"late,omitempty"`
	// Partial marks a snapshot before which something was lost.
	Partial bool `json:"partial,omitempty"`
	// RequestedAt is when the snapshot was first asked for, if there was no room then.
	RequestedAt time.Time `json:"moment,omitzero"`
	// CompareWholeSession has all of the session's file compared with what is recorded.
	CompareWholeSession bool `json:"whole,omitempty"`
	// CompareModes has permissions and empty directories count as changes.
	CompareModes bool `json:"modes,omitempty"`
}

func (TakeSnapshot) effect() {}

// ChangesState reports whether the mission is in another state after the snapshot.
func (t TakeSnapshot) ChangesState() bool {
	switch t.Trigger {
	case TriggerTool, TriggerManual, TriggerWatch:
		return false
	}
	return true
}

// IsFilesOnly reports whether a request is about files alone: if only the conversation has
// changed since the newest snapshot, no new one is taken. This holds for the end of a turn
// that was only seen to go on, too: an agent writes to its conversation before it reports a
// prompt.
func (t TakeSnapshot) IsFilesOnly() bool {
	return t.Trigger == TriggerTool || t.Trigger == TriggerWatch || t.Late && t.OnlyIfChanged
}

// PerformQueued asks to carry out what was queued for the end of the turn.
type PerformQueued struct{}

func (PerformQueued) effect() {}

// StartAutomations asks to start the user's commands for a change of state: OnReady,
// OnIdle, OnError or OnClose.
type StartAutomations struct{ On string }

func (StartAutomations) effect() {}

// automationFor is the automation that an event starts, "" for none. An event that is
// reported twice starts it once.
func automationFor(l, next Lifecycle, e Event) string {
	switch e.(type) {
	case AgentLaunched:
		return OnReady
	case TurnsCounted:
		return ""
	}
	same := StateOf(l) == StateOf(next)
	_, began := e.(SessionBegan)
	switch next.(type) {
	case Idle:
		if !same && (!began || IsInKnownTurn(l)) {
			return OnIdle
		}
	case Failed:
		if !same || l.LastTurn() != next.LastTurn() {
			return OnError
		}
	case Closed:
		if gone, lost := e.(AgentVanished); !same && !(lost && gone.LongAgo) {
			return OnClose
		}
	}
	return ""
}
