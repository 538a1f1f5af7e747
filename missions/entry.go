package missions

import (
	"slices"
	"time"
)

// Entry is a snapshot as `umbra log --json` prints it.
type Entry struct {
	ID          string    `json:"id"`
	Address     string    `json:"address"` // can be typed
	Parent      string    `json:"parent,omitempty"`
	Mission     string    `json:"mission"`
	MissionName string    `json:"mission_name"`
	State       StateName `json:"state"`
	NotLaunched bool      `json:"not_launched,omitempty"` // State is initializing, and nobody has launched the agent since
	Triggers    []string  `json:"triggers"`
	At          time.Time `json:"at"`
	Message     string    `json:"message"`
	Turn        int       `json:"turn"`
	// Label says what made the change that the snapshot shows, and what happened then or
	// comes next: see LabelOf. MadeBy are the tool calls among the former.
	Label  string    `json:"label"`
	MadeBy []ToolUse `json:"made_by,omitempty"`
	// Prompt is what began the turn, whole. A log has it once a turn: with the prompt's
	// own snapshot or, where that is not listed, with the newest that is.
	Prompt string `json:"prompt,omitempty"`
	// Typed is what the user typed then while the agent worked, whole.
	Typed     string `json:"typed,omitempty"`
	SessionID string `json:"session_id,omitempty"`
	Events    int    `json:"session_events"`
	// Tally is what was said in the mission up to then.
	Tally        *Tally      `json:"conversation,omitempty"`
	Files        FileCounts  `json:"files"`
	Lines        *LineCounts `json:"lines,omitempty"` // absent where not counted: unasked, or in too many files
	Bytes        int64       `json:"bytes"`
	Skipped      int         `json:"skipped"`
	Pins         []string    `json:"pins"`
	RestoredFrom string      `json:"restored_from,omitempty"`
	ForkedFrom   string      `json:"forked_from,omitempty"`
	PromotedFrom string      `json:"promoted_from,omitempty"` // the fork's newest snapshot
	Operation    string      `json:"operation,omitempty"`
	TakenBack    bool        `json:"taken_back,omitempty"` // by a restore, an undo or a redo since
	// TurnTakenBack says in a log that its turn is taken back with its beginning.
	TurnTakenBack bool `json:"turn_taken_back,omitempty"`
	Partial       bool `json:"partial"`
	// LostBefore is the snapshot before, if that is lost: Parent is then what is left of
	// those before it.
	LostBefore string `json:"lost_before,omitempty"`
	// PrunedAt is when it was pruned, with what is not listed before it; zero if it was lost
	// otherwise.
	PrunedAt  time.Time `json:"pruned_at,omitzero"`
	Late      bool      `json:"late,omitempty"`
	Unchanged bool      `json:"unchanged,omitempty"` // asked for, and nothing was new: ID is the snapshot it equals
	// Notes are about the taking of a snapshot that was asked for now.
	Notes []string `json:"notes,omitempty"`
	// RenamedFrom is the name that the file of a log's path had before this snapshot.
	RenamedFrom string `json:"renamed_from,omitempty"`
	// What a log was asked for beside that. A mission's first snapshot changed
	// nothing: it has neither.
	Changed []FileChange `json:"changed,omitempty"`
	Patch   string       `json:"patch,omitempty"`
	// Unpaired counts new files that may be renamed ones which were edited: they were
	// too many to be compared with those that are gone.
	Unpaired int `json:"unpaired,omitempty"`
	// ConversationLines is what was said in the turn, with the newest of its snapshots that the
	// log lists.
	ConversationLines []ConversationLine `json:"said,omitempty"`
}

// FileCounts counts a snapshot's changes against the one before.
type FileCounts struct {
	Added    int `json:"added"`
	Modified int `json:"modified"`
	Deleted  int `json:"deleted"`
}

// LineCounts counts changed lines.
type LineCounts struct {
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// HasPromptTrigger reports whether the snapshot was taken before a prompt.
func (e Entry) HasPromptTrigger() bool { return slices.Contains(e.Triggers, string(TriggerPrompt)) }

// IsCutOff reports whether the snapshot is of the end of a turn that was not done: its user
// has stopped it, or nothing is known of its end.
func (e Entry) IsCutOff() bool {
	return e.Message == MessageInterrupted || e.Message == MessageEndedUnseen
}

// countedTally is the snapshot's tally. At the beginning the agent may have written
// nothing yet: that counts as zero.
func (e Entry) countedTally(begins bool) (t Tally, known bool) {
	if e.Tally == nil {
		return t, begins
	}
	return *e.Tally, true
}
