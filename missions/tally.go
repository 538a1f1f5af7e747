package missions

import "slices"

// Tally is what a conversation says of itself, counted as the agent's file is
// recorded: each snapshot has it, so it comes with the refs. A fork's begins with
// what it inherited, and a restore takes back what it cuts off.
type Tally struct {
	Prompts     int     `json:"prompts"`
	Tools       int     `json:"tools"`
	Input       int64   `json:"input_tokens"` // with those that were cached
	Output      int64   `json:"output_tokens"`
	Compactions int     `json:"compactions"`
	Resets      int     `json:"resets"`             // how often its user began anew, as by /clear
	Cost        float64 `json:"cost_usd,omitempty"` // as far as the agent says it
}

// Plus adds a tally, such as that of a conversation which the user has left behind.
func (t Tally) Plus(o Tally) Tally {
	return Tally{
		Prompts: t.Prompts + o.Prompts, Tools: t.Tools + o.Tools, Input: t.Input + o.Input, Output: t.Output + o.Output,
		Compactions: t.Compactions + o.Compactions, Resets: t.Resets + o.Resets, Cost: t.Cost + o.Cost,
	}
}

// Minus takes a tally away that this one holds.
func (t Tally) Minus(o Tally) Tally {
	return t.Plus(Tally{
		Prompts: -o.Prompts, Tools: -o.Tools, Input: -o.Input, Output: -o.Output,
		Compactions: -o.Compactions, Resets: -o.Resets, Cost: -o.Cost,
	})
}

// Since is what came on top of an earlier tally. It is not known where a count is less than
// it was: the conversation is another one by now.
func (t Tally) Since(earlier Tally) (spent Tally, known bool) {
	return t.Minus(earlier), !t.isLessThan(earlier)
}

// isLessThan reports whether any count is less than another tally's.
func (t Tally) isLessThan(of Tally) bool {
	return t.Prompts < of.Prompts || t.Tools < of.Tools || t.Input < of.Input || t.Output < of.Output
}

// TurnTally is the tally of one turn, entries[from:to] of a log, newest first: the tally
// at its end less that at its beginning. It is not known for a turn that is not listed
// whole. A restore or an undo after the turn begins another conversation, which does not
// count.
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

// tallyBeforeTurn is the tally at the beginning of the turn whose first entry is
// entries[to-1]. The snapshot of its prompt has it, also where the user has gone back in
// the agent since the turn before. Where the prompt was not reported, the snapshot before
// the turn has it, if it is of the same conversation.
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
