package missions

import "slices"

// Spent is what the conversation took in the turn of entries[from:to] of a log, newest
// first: what was counted when it ended, less what was counted when it began. It is
// not known of a turn that is not listed whole. What a restore or an undo went over to
// after the turn is another conversation, which says nothing of it.
func Spent(entries []Entry, from, to int) (t Tally, known bool) {
	before, known := countedBefore(entries, to)
	next := newerOf(entries, from)
	if !known || next != nil && next.Turn == entries[from].Turn {
		return Tally{}, false
	}
	turn := slices.Clone(entries[from:to])
	if next != nil && next.Parent == entries[from].ID && next.prompted() {
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
		if e.Conversation == nil || e.Operation != "" {
			continue
		}
		if e.Conversation.fallsShort(after) {
			break // its user went back in the agent itself
		}
		after = *e.Conversation
	}
	return after.less(before), true
}

// countedBefore is what was counted when the turn began whose first entry is before
// entries[to]. The snapshot before its prompt says it, also where the user has gone
// back in the agent since the turn before; of a prompt that was not heard, the one
// before the turn, if it is of the same conversation.
func countedBefore(entries []Entry, to int) (t Tally, known bool) {
	first := entries[to-1]
	switch {
	case first.prompted():
		return first.counted(first.Turn == 1)
	case to == len(entries) || entries[to].ID != first.Parent:
		return t, false
	}
	prev := entries[to]
	if prev.SessionID != first.SessionID && prev.SessionID != "" {
		return t, false
	}
	return prev.counted(prev.Turn == 0)
}

// newerOf is the next snapshot of the same mission, nil if entries[at] is its newest.
func newerOf(entries []Entry, at int) *Entry {
	for i := at - 1; i >= 0; i-- {
		if entries[i].Mission == entries[at].Mission {
			return &entries[i]
		}
	}
	return nil
}

func (e Entry) prompted() bool { return slices.Contains(e.Triggers, string(TriggerPrompt)) }

// counted is what was counted by then: nothing where that is the beginning and the
// agent had written nothing yet.
func (e Entry) counted(begins bool) (t Tally, known bool) {
	if e.Conversation == nil {
		return t, begins
	}
	return *e.Conversation, true
}

// fallsShort reports whether a tally is of less than another one.
func (t Tally) fallsShort(of Tally) bool {
	return t.Prompts < of.Prompts || t.Tools < of.Tools || t.Input < of.Input || t.Output < of.Output
}
