package missions

import (
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
	Triggers    []string  `json:"triggers"`
	At          time.Time `json:"at"`
	Message     string    `json:"message"`
	Turn        int       `json:"turn"`
	// Prompt is what began the turn, in a log: on one line and cut, as the message of
	// the prompt's own snapshot says it, which has none.
	Prompt    string `json:"prompt,omitempty"`
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
	Operation    string      `json:"operation,omitempty"`
	Partial      bool        `json:"partial"`
	// LostBefore is the snapshot before, if that is lost: Parent is then what is left of
	// those before it.
	LostBefore string `json:"lost_before,omitempty"`
	Late       bool   `json:"late,omitempty"`
	Unchanged  bool   `json:"unchanged,omitempty"` // asked for, and nothing was new: ID is the snapshot it equals
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

// LogRequest asks for a mission's snapshots, newest first.
type LogRequest struct {
	Caller           Caller    `json:"caller"`
	Mission          string    `json:"mission,omitempty"`
	Limit            int       `json:"limit,omitempty"` // 0: all
	Since            string    `json:"since,omitempty"` // a time as in moments: 10m, 2026-01-31
	State            StateName `json:"state,omitempty"`
	Path             string    `json:"path,omitempty"` // by its name at the moment; a file is followed over its renames
	Grep             string    `json:"grep,omitempty"`
	Ops              bool      `json:"ops,omitempty"`   // only Umbra's own operations
	Lines            bool      `json:"lines,omitempty"` // count lines too
	Graph            bool      `json:"graph,omitempty"` // the missions forked from it as well
	All              bool      `json:"all,omitempty"`   // every mission of the project
	Changes          bool      `json:"changes,omitempty"`
	Patch            bool      `json:"patch,omitempty"`
	WithConversation bool      `json:"said,omitempty"`
}

// ShowRequest asks for one moment.
type ShowRequest struct {
	Caller Caller `json:"caller"`
	Moment string `json:"moment"`
	Brief  bool   `json:"brief,omitempty"` // without the patch
	// Paths are those whose changes are meant, none for all.
	Paths []string `json:"paths,omitempty"`
}

// ShowResult is a moment, whole.
type ShowResult struct {
	Entry        Entry              `json:"snapshot"`
	Prompt       string             `json:"prompt,omitempty"`
	Skipped      []PathReason       `json:"skipped,omitempty"`
	Changing     []string           `json:"changing,omitempty"`
	Git          GitState           `json:"git"`
	Conversation []ConversationLine `json:"conversation,omitempty"`
	NotTakenUp   []Prompt           `json:"not_taken_up,omitempty"` // sent by then, and not taken up by the agent yet
	Files        []FileChange       `json:"files"`
	Patch        string             `json:"patch,omitempty"`
	// Unpaired counts new files that may be renamed ones which were edited: they were
	// too many to be compared with those that are gone.
	Unpaired int `json:"unpaired,omitempty"`
}

// ConversationLine is one line of a conversation.
type ConversationLine struct {
	Role string    `json:"role"` // user, assistant, tool
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// CatRequest asks for a file as it was. Path is relative to the caller's
// directory where that is inside the workspace, else to the workspace; FromTop
// to the workspace always, as the paths of a FileChange are.
type CatRequest struct {
	Caller  Caller `json:"caller"`
	Moment  string `json:"moment"`
	Path    string `json:"path"`
	FromTop bool   `json:"from_top,omitempty"`
}

// DiffRequest compares two moments. No From: the snapshot before the last
// prompt. No To: the workspace as it is now.
type DiffRequest struct {
	Caller       Caller   `json:"caller"`
	From         string   `json:"from,omitempty"`
	To           string   `json:"to,omitempty"`
	Turn         int      `json:"turn,omitempty"`
	Conversation bool     `json:"conversation,omitempty"`
	Patch        bool     `json:"patch,omitempty"`
	Paths        []string `json:"paths,omitempty"`
}

// Difference is what lies between two moments.
type Difference struct {
	From         string           `json:"from"`
	To           string           `json:"to"` // "" is the workspace now
	Files        []FileChange     `json:"files"`
	Conversation ConversationDiff `json:"conversation"`
	Patch        string           `json:"patch,omitempty"`
	// Unpaired counts new files that may be renamed ones which were edited: they were
	// too many to be compared with those that are gone.
	Unpaired int `json:"unpaired,omitempty"`
}

// ConversationDiff is what was said between two moments.
type ConversationDiff struct {
	EventsAdded int                `json:"events_added"`
	Lines       []ConversationLine `json:"said,omitempty"`
}

// FileChange is one path that differs.
type FileChange struct {
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty"`
	// Similarity is how much of a renamed file was in it before, in percent.
	Similarity int    `json:"similarity,omitempty"`
	Type       string `json:"type"` // added, modified, deleted, renamed, mode, type
	Added      int    `json:"lines_added"`
	Deleted    int    `json:"lines_deleted"`
	Binary     bool   `json:"binary"`
}

// RestoreRequest puts a workspace, a conversation or both back to a moment.
type RestoreRequest struct {
	Caller           Caller   `json:"caller"`
	Moment           string   `json:"moment"`
	Mission          string   `json:"mission,omitempty"`
	FilesOnly        bool     `json:"files_only,omitempty"`
	ConversationOnly bool     `json:"conversation_only,omitempty"`
	Paths            []string `json:"paths,omitempty"`
	Mine             bool     `json:"mine,omitempty"`
	All              bool     `json:"all,omitempty"`
	Preview          bool     `json:"preview,omitempty"`
	WhenIdle         bool     `json:"when_idle,omitempty"`
	Force            bool     `json:"force,omitempty"`
}

// UndoRequest steps back, or forward, through Umbra's operations.
type UndoRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"`
	Steps   int    `json:"steps,omitempty"` // 0 is one
	// Preview plans one step and changes nothing.
	Preview bool `json:"preview,omitempty"`
	// WhenIdle leaves it for the end of the turn, if the agent is in one.
	WhenIdle bool `json:"when_idle,omitempty"`
	Force    bool `json:"force,omitempty"`
	// Known is set while it waits for the end of a turn.
	Known *KnownOperations `json:"known,omitempty"`
}

// KnownOperations is what whoever asked for an undo or redo in a turn knew of: it is done at that
// turn's end, with the operations that were meant and no others.
type KnownOperations struct {
	Turn       int      `json:"turn"` // the one that ran
	Operations []string `json:"operations"`
}

// RestoreResult is the plan of a restore and, when done, its outcome.
type RestoreResult struct {
	Target         string              `json:"target"`
	TargetAddress  string              `json:"target_address,omitempty"` // M@N; none where it is not in M's history
	Mission        string              `json:"mission"`
	MissionName    string              `json:"name"` // the mission's
	Workspace      string              `json:"workspace"`
	Modify         []string            `json:"modify"`
	Create         []string            `json:"create"`
	Delete         []string            `json:"delete"`
	Kept           []PathReason        `json:"keep"`
	Conversation   ConversationRestore `json:"conversation"`
	Git            GitThenNow          `json:"git"`
	Done           bool                `json:"done"`
	Queued         bool                `json:"queued,omitempty"` // waits for the end of the turn
	SafetySnapshot string              `json:"safety_snapshot,omitempty"`
	Snapshot       string              `json:"snapshot,omitempty"`
	SessionID      string              `json:"session_id,omitempty"`
	Handover       *Handover           `json:"handover,omitempty"`
	Displaced      []PathReason        `json:"displaced,omitempty"`
	// NotTakenUp are prompts, in whole, that had been sent to the agent that was ended,
	// and that waited for the end of what it did: they are in no conversation now.
	NotTakenUp []Prompt     `json:"not_taken_up,omitempty"`
	Foreign    []PathReason `json:"foreign,omitempty"` // paths changed by others, with by whom
	Notes      []string     `json:"notes,omitempty"`
	// Refused is, in a preview, what would stand in the way now.
	Refused []*Error `json:"refused,omitempty"`
	// Partial says that something was left that the plan would have changed.
	Partial bool `json:"partial,omitempty"`
}

// PathReason is a path that was left alone, and why.
type PathReason struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// ConversationRestore counts a conversation's lines kept and dropped.
type ConversationRestore struct {
	EventsKept    int `json:"events_kept"`
	EventsDropped int `json:"events_dropped"`
	// Switched says that the mission goes on in another session than before.
	Switched bool `json:"switched,omitempty"`
}

// GitThenNow is the user's repository at the moment and at present.
type GitThenNow struct {
	Then GitState `json:"then"`
	Now  GitState `json:"now"`
}

// Handover says how the agent goes on after its conversation was changed. In a
// preview Type is not known yet.
type Handover struct {
	How  string `json:"how"`            // relaunched, type, resume, none
	Type string `json:"type,omitempty"` // what to type, and where
}

// ResolveRequest asks what a name means, for commands that run git themselves.
type ResolveRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"`
	Moment  string `json:"moment,omitempty"`
}

// ResolveResult is where a mission or moment is in the shadow repository.
type ResolveResult struct {
	Mission    Mission `json:"mission"`
	Snapshot   string  `json:"snapshot,omitempty"`
	ShadowRepo string  `json:"shadow_repo"`
}
