package missions

import (
	"slices"
)

// TurnTally is what the conversation took in the turn of entries[from:to] of a log, newest
// first: what was counted when it ended, less what was counted when it began. It is
// not known of a turn that is not listed whole. What a restore or an undo went over to
// after the turn is another conversation, which says nothing of it.
func TurnTally(entries []Entry, from, to int) (t Tally, known bool) {
	before, known := tallyBeforeTurn(entries, to)
	next := newerEntry(entries, from)
	if !known || next != nil && next.Turn == entries[from].Turn {
		return Tally{}, false
	}
	turn := slices.Clone(entries[from:to])
	if next != nil && next.Parent == entries[from].ID && next.HasPromptTrigger() {
		turn = slices.Insert(turn, 0, *next) // some agents write a turn's last words after its end
	}
	after, session := before, ""
	for _, e := range slices.Backward(turn) {
		if session == "" {
			session = e.SessionID
		}
		if e.SessionID != session {
			break
		}
		if e.Tally == nil || e.Operation != "" {
			continue
		}
		if e.Tally.isLessThan(after) {
			break // its user went back in the agent itself
		}
		after = *e.Tally
	}
	return after.Minus(before), true
}

// tallyBeforeTurn is what was counted when the turn began whose first entry is before
// entries[to]. The snapshot before its prompt says it, also where the user has gone
// back in the agent since the turn before; of a prompt that was not heard, the one
// before the turn, if it is of the same conversation.
func tallyBeforeTurn(entries []Entry, to int) (t Tally, known bool) {
	first := entries[to-1]
	switch {
	case first.HasPromptTrigger():
		return first.countedTally(first.Turn == 1)
	case to == len(entries) || entries[to].ID != first.Parent:
		return t, false
	}
	prev := entries[to]
	if prev.SessionID != first.SessionID && prev.SessionID != "" {
		return t, false
	}
	return prev.countedTally(prev.Turn == 0)
}

// newerEntry is the next snapshot of the same mission, nil if entries[at] is its newest.
func newerEntry(entries []Entry, at int) *Entry {
	for i := at - 1; i >= 0; i-- {
		if entries[i].Mission == entries[at].Mission {
			return &entries[i]
		}
	}
	return nil
}

func (e Entry) HasPromptTrigger() bool { return slices.Contains(e.Triggers, string(TriggerPrompt)) }

// countedTally is what was counted by then: nothing where that is the beginning and the
// agent had written nothing yet.
func (e Entry) countedTally(begins bool) (t Tally, known bool) {
	if e.Tally == nil {
		return t, begins
	}
	return *e.Tally, true
}

// isLessThan reports whether a tally is of less than another one.
func (t Tally) isLessThan(of Tally) bool {
	return t.Prompts < of.Prompts || t.Tools < of.Tools || t.Input < of.Input || t.Output < of.Output
}
