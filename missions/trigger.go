package missions

import "slices"

// Trigger is why a snapshot was taken.
type Trigger string

// The triggers, as in the Umbra-Trigger trailer.
const (
	TriggerPrompt  Trigger = "prompt" // before a turn
	TriggerTool    Trigger = "tool"   // before a tool that can write
	TriggerIdle    Trigger = "idle"   // a turn ended
	TriggerManual  Trigger = "manual"
	TriggerRestore Trigger = "restore"
	TriggerUndo    Trigger = "undo"
	TriggerRedo    Trigger = "redo"
	TriggerFork    Trigger = "fork"
	TriggerPromote Trigger = "promote"
	TriggerMerge   Trigger = "merge"
	TriggerClose   Trigger = "close" // the agent ended
	TriggerError   Trigger = "error"
	TriggerWatch   Trigger = "watch" // files changed outside a turn, or an editor or Git said so
)

// Triggers are the reasons for one snapshot, the first of them first.
type Triggers []Trigger

// Has reports whether t is among them.
func (ts Triggers) Has(t Trigger) bool { return slices.Contains(ts, t) }

// Operation is the one of Umbra's own that is among them, "" if there is none.
func (ts Triggers) Operation() Trigger {
	for _, t := range ts {
		switch t {
		case TriggerRestore, TriggerPromote, TriggerMerge, TriggerUndo, TriggerRedo:
			return t
		}
	}
	return ""
}

// Texts are the triggers as the trailer has them.
func (ts Triggers) Texts() []string {
	out := make([]string, len(ts))
	for i, t := range ts {
		out[i] = string(t)
	}
	return out
}

// HasTurnEnd reports whether the snapshot was taken since a turn, or the agent, ended.
func (t Triggers) HasTurnEnd() bool {
	return t.Has(TriggerIdle) || t.Has(TriggerError) || t.Has(TriggerClose)
}
