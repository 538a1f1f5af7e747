package missions

import (
	"encoding/json"
	"slices"
)

// RestoreRequest puts a workspace, a conversation or both back to a moment.
type RestoreRequest struct {
	Caller           Caller   `json:"caller"`
	Moment           string   `json:"moment"`
	Mission          string   `json:"mission,omitempty"`
	FilesOnly        bool     `json:"files_only,omitempty"`
	ConversationOnly bool     `json:"conversation_only,omitempty"`
	Paths            []string `json:"paths,omitempty"`
	KeepOthers       bool     `json:"keep_others,omitempty"` // what others changed stays
	All              bool     `json:"all,omitempty"`         // what others changed is put back too
	Preview          bool     `json:"preview,omitempty"`
	WhenIdle         bool     `json:"when_idle,omitempty"`
	Force            bool     `json:"force,omitempty"`
	// Displaced puts back what other programs lost to restores, all of it or Paths, in
	// place of a moment.
	Displaced bool `json:"displaced,omitempty"`
	// Promotion is set if the moment is the newest of a fork of the mission, whose state
	// becomes the mission's: see Service.Promote.
	Promotion *Promotion `json:"promotion,omitempty"`
	// Merge is set if a merged tree becomes the mission's: see Service.Merge.
	Merge *Merge `json:"merge,omitempty"`
}

// OnlyReads reports whether a request changes nothing.
func (r RestoreRequest) OnlyReads() bool { return r.Preview }

// Check reports what contradicts itself in a request, or is missing.
func (r RestoreRequest) Check() error {
	switch {
	case r.KeepOthers && r.All:
		return Errorf(KindUsage, "choose one", "--keep-others and --all contradict each other")
	case r.FilesOnly && r.ConversationOnly:
		return Errorf(KindUsage, "leave both out to restore both", "--files-only and --conversation-only contradict each other")
	case len(r.Paths) > 0 && r.ConversationOnly:
		return Errorf(KindUsage, "--path is about files only", "--path and --conversation-only contradict each other")
	case r.ConversationOnly && (r.KeepOthers || r.All):
		return Errorf(KindUsage, "leave them out", "--keep-others and --all are about files, which --conversation-only leaves alone")
	case r.WhenIdle && r.Force:
		return Errorf(KindUsage, "choose one", "--when-idle and --force contradict each other")
	case r.Displaced && (r.Moment != "" || r.ConversationOnly):
		return Errorf(KindUsage, "umbra restore --displaced [PATH]",
			"--displaced puts back all that restores displaced, or the paths that are named: no moment, no --conversation-only")
	case r.Moment == "" && !r.Displaced:
		return Errorf(KindUsage, "umbra log lists moments", "name the moment to restore")
	}
	return nil
}

// Part is what alone a request is about, "files" or "conversation"; "" for both.
func (r RestoreRequest) Part() string {
	switch {
	case r.FilesOnly:
		return "files"
	case r.ConversationOnly:
		return "conversation"
	default:
		return ""
	}
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

// OnlyReads reports whether a request changes nothing.
func (r UndoRequest) OnlyReads() bool { return r.Preview }

// KnownOperations are the operations that there were when an undo or redo was asked for
// in a turn. At the turn's end it takes back these and no others.
type KnownOperations struct {
	Turn       int      `json:"turn"` // the turn that ran
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
	OfDisplaced    bool                `json:"of_displaced,omitempty"` // what earlier restores displaced is put back, not Target
	// NotTakenUp are prompts, in whole, that had been sent to the agent that was ended,
	// and that waited for the end of what it did: they are in no conversation now.
	NotTakenUp []Prompt     `json:"not_taken_up,omitempty"`
	Foreign    []PathReason `json:"foreign,omitempty"` // paths changed by others, with by whom
	// Merged are, of a promotion, the paths with changes that the mission had made since
	// the fork point, and has still.
	Merged []string `json:"merged,omitzero"`
	Notes  []string `json:"notes,omitempty"`
	// Refused is, in a preview, what would stand in the way now.
	Refused []*Error `json:"refused,omitempty"`
	// Partial says that something was left that the plan would have changed.
	Partial bool `json:"partial,omitempty"`
}

// WithEmptyLists makes lists empty rather than absent.
func (r RestoreResult) WithEmptyLists() RestoreResult {
	for _, list := range []*[]string{&r.Modify, &r.Create, &r.Delete} {
		if *list == nil {
			*list = []string{}
		}
	}
	if r.Kept == nil {
		r.Kept = []PathReason{}
	}
	return r
}

// Explain is a refusal that names the paths which others have changed, if there are any, and
// has the plan, by which a user decides.
func (r RestoreResult) Explain(refused *Error) *Error {
	if len(r.Foreign) == 0 {
		return refused
	}
	e := *refused
	e.Message += ":"
	for _, f := range r.Foreign {
		e.Message += "\n  " + f.Path + " (" + f.Reason + ")"
	}
	e.Details, _ = json.Marshal(r) // strings and lists
	return &e
}

// WithEarlier adds what was done to what an earlier step had done.
func (r RestoreResult) WithEarlier(first RestoreResult) RestoreResult {
	merge := func(a, b []string) []string {
		return slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(a), b...))))
	}
	if !first.Done {
		return r
	}
	r.Modify, r.Create, r.Delete = merge(first.Modify, r.Modify), merge(first.Create, r.Create), merge(first.Delete, r.Delete)
	r.Kept, r.Displaced = append(first.Kept, r.Kept...), append(first.Displaced, r.Displaced...)
	r.Notes, r.Partial, r.SafetySnapshot = append(first.Notes, r.Notes...), first.Partial || r.Partial, first.SafetySnapshot
	return r
}

// PathReason is a path that was left alone, and why.
type PathReason struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// IsObstructed reports whether the system does not let the path be changed, which its
// owner or root can lift.
func (k PathReason) IsObstructed() bool {
	switch k.Reason {
	case "forbidden", "immutable", "append-only", "read-only", "mount":
		return true
	}
	return false
}

// ConversationRestore counts a conversation's lines kept and dropped.
type ConversationRestore struct {
	EventsKept    int `json:"events_kept"`
	EventsDropped int `json:"events_dropped"`
	// TurnsDropped are the turns after the moment that still counted, the first one first.
	TurnsDropped []int `json:"turns_dropped,omitempty"`
	// Switched says that the mission goes on in another session than before.
	Switched bool `json:"switched,omitempty"`
	// FromFork says of a promotion that the conversation becomes the fork's.
	FromFork bool `json:"from_fork,omitempty"`
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

// CancelRequest cancels the restore, undo or redo that waits for the end of a turn.
type CancelRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"`
}

// Canceled is the action that was canceled.
type Canceled struct {
	Mission string `json:"mission"`
	Name    string `json:"name"`
	Action  string `json:"canceled"` // as a mission's pending_action
}
