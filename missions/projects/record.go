package projects

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TriggersOf reads a snapshot's trailer.
func TriggersOf(s *gitstore.Snapshot) missions.Triggers {
	out := make(missions.Triggers, len(s.Triggers))
	for i, t := range s.Triggers {
		out[i] = missions.Trigger(t)
	}
	return out
}

// RecordFormat is the version of the documents in a record.
const RecordFormat = 1

// Names of a record's documents; docs/format.md describes each.
const (
	MissionDoc   = "mission.json"
	OperationDoc = "operation.json"
	SnapshotDoc  = "snapshot.json"
	RulesDoc     = "rules.json"
	SkippedDoc   = "skipped.json"
	ModesDoc     = "modes.json"
	GitDoc       = "git/state.json"
	StagedDoc    = "git/staged.json"
)

// BindingsDir is where a record has one document for each machine it is bound to.
const BindingsDir = "bindings"

func BindingDoc(machine string) string { return BindingsDir + "/" + machine + ".json" }

// Stored is a mission's portable record: what is true of it on every machine.
type Stored struct {
	Format             int              `json:"format"`
	ID                 string           `json:"id"`
	Name               string           `json:"name"`
	Agent              string           `json:"agent"`
	ToolName           string           `json:"tool,omitempty"`   // its name, where Agent is one for all tools that Umbra does not know
	ResumeCommand      []string         `json:"resume,omitempty"` // how such a tool has said that it is resumed
	Command            []string         `json:"command"`          // without secrets: see MayRecord
	LifecycleJSON      json.RawMessage  `json:"lifecycle"`
	RecordedStateSince time.Time        `json:"state_since"`
	CreatedAt          time.Time        `json:"created_at"`
	UpdatedAt          time.Time        `json:"updated_at"`
	Parent             *missions.Parent `json:"parent,omitempty"`
	Scratch            string           `json:"scratch,omitempty"`  // the mission that a search is for, whose workspace this is
	Session            string           `json:"session,omitempty"`  // the session it goes on in
	FormerSessions     []string         `json:"sessions,omitempty"` // those before, oldest first
	Diverged           bool             `json:"diverged,omitempty"`
	// Config is the version of the agent's configuration that the mission began
	// or was launched with; ConfigFixed says that it is to be launched with it,
	// whatever the configuration is by then.
	Config      string            `json:"config_commit,omitempty"`
	ConfigFixed bool              `json:"config_fixed,omitempty"`
	LastPrompt  *missions.Prompt  `json:"last_prompt,omitempty"`
	LastTool    *missions.ToolUse `json:"last_tool,omitempty"`
	LastError   string            `json:"last_error,omitempty"`
	EnvNames    []string          `json:"env_names,omitempty"`
	Subdir      string            `json:"subdir,omitempty"` // of the workspace, where the agent runs
	Adopted     bool              `json:"adopted,omitempty"`
	Unnamed     bool              `json:"unnamed,omitempty"`    // to be named by its first prompt
	NameGiven   bool              `json:"name_given,omitempty"` // by its user, and not made of a prompt
	Notes       []Note            `json:"notes,omitempty"`      // for the agent's next prompt
	// FirstPrompt is sent to the agent when it is launched for the first time.
	FirstPrompt string            `json:"first_prompt,omitempty"`
	Contest     *missions.Contest `json:"contest,omitempty"` // that the fork was made for
	// FreshCommand says that Command was given to a fork and was not run yet.
	FreshCommand bool   `json:"fresh_command,omitempty"`
	StartedBy    string `json:"started_in,omitempty"` // the mission whose agent started this one
	// Tally counts the conversation, Left those that the user has left behind, Behind
	// what Left holds of each session.
	Tally         *TallyProgress            `json:"talk,omitempty"`
	LeftTally     *missions.Tally           `json:"talk_left,omitempty"`
	LeftBySession map[string]missions.Tally `json:"talk_behind,omitempty"`
	// Withheld are paths that stay out of the snapshots though no rule says so any more:
	// a restore took the rule away.
	Withheld []string `json:"withheld,omitempty"`
	// Lent says that a fork works in the workspace while the mission is parked.
	Lent *Lending `json:"lent,omitempty"`
	// TurnPosition is the place in its turn of the snapshot that the record is of.
	TurnPosition *turnPosition `json:"step,omitempty"`
	// ConversationLeftOut says that there was a conversation, and that whoever has sent the
	// mission has not sent that.
	ConversationLeftOut bool `json:"conversation_left_out,omitempty"`
}

// TallyProgress is a Tally and where to go on counting.
type TallyProgress struct {
	Session       string         `json:"session,omitempty"`
	Generation    int            `json:"generation,omitempty"` // of the file, as the record counts it
	Length        int64          `json:"length"`               // how much of the file is counted, up to a line's end
	LastTurnStart int64          `json:"from"`                 // where the last turn begins
	TallyBefore   missions.Tally `json:"before"`               // what is before From
	Total         missions.Tally `json:"tally"`
}

// turnPosition is a snapshot's place in its turn, as number gives it.
type turnPosition struct {
	K         int  `json:"k"`
	EndsTurn  bool `json:"ends,omitempty"`
	TurnEnded bool `json:"ended,omitempty"`
}

// Note is something that the mission's agent is to know, as further context of its
// next prompt. It is a mission's until the conversation shows that the model has
// had it: a hook that is given it may die, or its agent may not wait for it.
type Note struct {
	Kind       NoteKind `json:"kind"`
	Text       string   `json:"text"`
	TimesGiven int      `json:"given,omitempty"` // with so many prompts
	// FileOffset is where in the session's file the prompt came that it was given with.
	FileOffset int64  `json:"from,omitempty"`
	Session    string `json:"session,omitempty"`
}

// NoteKind is what a note is about; a mission has one of each at most.
type NoteKind string

// Binding is what is true of a mission on one machine.
type Binding struct {
	Machine     string                 `json:"machine"`
	Workspace   string                 `json:"workspace"` // absolute, resolved
	Identity    home.DirectoryIdentity `json:"place"`
	PathInRepo  string                 `json:"scope,omitempty"` // of the workspace below its Git top level
	CommonDir   string                 `json:"git_common_dir,omitempty"`
	AgentRoot   string                 `json:"agent_root,omitempty"`
	AgentVars   map[string]string      `json:"agent_vars,omitempty"`
	SessionPath string                 `json:"session_path,omitempty"`
	// SessionIdentity is the session file's identity when it was recorded last.
	SessionIdentity home.FileIdentity `json:"session_file,omitzero"`
	MadeByUmbra     bool              `json:"made_by_umbra,omitempty"`
	Branch          string            `json:"branch,omitempty"`
	Worktree        string            `json:"worktree,omitempty"` // the top of the linked worktree Umbra made
	Fork            *fork.Document    `json:"fork,omitempty"`     // how to take the workspace away again
	Lodging         *Lodging          `json:"lodging,omitempty"`  // of a fork that was entered in its parent's workspace
}

// Operation is what Umbra did to a mission by itself.
type Operation struct {
	ID                string                `json:"id"`
	Kind              string                `json:"kind"` // restore, promote, merge, undo, redo, fork
	Target            string                `json:"target,omitempty"`
	SafetySnapshot    string                `json:"safety,omitempty"`
	Kept              []missions.PathReason `json:"keep,omitempty"`
	Paths             []gitstore.Text       `json:"paths,omitempty"` // what a restore was asked for; empty for all
	Part              string                `json:"part,omitempty"`  // files or conversation, if that alone was asked for
	SessionBefore     string                `json:"session_before,omitempty"`
	SessionBeforePath string                `json:"session_before_path,omitempty"`
	SessionAfter      string                `json:"session_after,omitempty"`
	SessionAfterPath  string                `json:"session_after_path,omitempty"`
	ReversedOperation string                `json:"takes_back,omitempty"` // the operation an undo or redo is of
	HandoverID        string                `json:"handover,omitempty"`   // the id of the handover that it was done in
	Plan              json.RawMessage       `json:"plan,omitempty"`
	Merge             string                `json:"merge,omitempty"`  // the id of the merge
	Merged            []string              `json:"merged,omitempty"` // the snapshots that were merged
}

// SnapshotInfo is what a record says of its snapshot beyond the commit.
type SnapshotInfo struct {
	Format        int             `json:"format"`
	At            time.Time       `json:"at"`
	Triggers      []string        `json:"triggers"`
	Turn          int             `json:"turn"`
	Prompt        string          `json:"prompt,omitempty"`
	Typed         string          `json:"typed,omitempty"` // while the agent worked
	Files         int             `json:"files"`
	Bytes         int64           `json:"bytes"`
	Events        int             `json:"session_events"`
	ChangingPaths []string        `json:"changing,omitempty"`
	Consistent    bool            `json:"consistent"`
	Late          bool            `json:"late,omitempty"`
	RequestedAt   time.Time       `json:"moment,omitzero"`   // that it was asked for, where there was no room for it then
	WithoutHooks  bool            `json:"unheard,omitempty"` // of an agent without hooks: when a turn began is not known
	Partial       bool            `json:"partial,omitempty"`
	Corrected     int             `json:"corrected,omitempty"`
	OpenTools     []string        `json:"pending_tools,omitempty"`
	Tally         *missions.Tally `json:"talk,omitempty"`     // what was said in the mission so far
	RequestIDs    []string        `json:"requests,omitempty"` // ids of those that it answers
	// MadeBy are the tool calls that may have made the change against the snapshot before.
	MadeBy []missions.ToolUse `json:"made_by,omitempty"`
}

// WriteDoc puts v into a record as JSON.
func WriteDoc(t *records.Tree, path string, v any) error {
	p, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return t.Put(path, append(p, '\n'))
}

// ParseDoc reads a document of a record strictly enough to be trusted.
func ParseDoc(path string, p []byte, v any) error {
	if err := json.Unmarshal(p, v); err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "%s of a record can't be read: %w", path, err)
	}
	return nil
}

// ReadStored reads the mission as a record has it.
func (p *Project) ReadStored(record gitstore.ID) (Stored, error) {
	var s Stored
	doc, err := p.Store.RecordFile(record, MissionDoc)
	if err != nil {
		return s, missions.Errorf(missions.KindDamaged, "umbra doctor", "record %s: %w", record.Short(), err)
	}
	return s, ParseDoc(MissionDoc, doc, &s)
}

// ReadSnapshotInfo reads the snapshot's own document in its record.
func (p *Project) ReadSnapshotInfo(s *gitstore.Snapshot) (SnapshotInfo, error) {
	var info SnapshotInfo
	doc, err := p.ReadRecordDoc(s, SnapshotDoc)
	if err != nil {
		return info, err
	}
	return info, ParseDoc(SnapshotDoc, doc, &info)
}

// ReadRecordDoc reads a document of a snapshot's record. The error wraps
// gitstore.ErrNoEntry if the record has none of that name.
func (p *Project) ReadRecordDoc(s *gitstore.Snapshot, name string) ([]byte, error) {
	doc, err := p.Store.RecordFile(s.Record, name)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "record of snapshot %s: %w", s.ID.Short(), err)
	}
	return doc, nil
}

// TakenAt is when a snapshot was taken, to the nanosecond if its record can be read.
func (p *Project) TakenAt(s *gitstore.Snapshot) time.Time {
	if info, err := p.ReadSnapshotInfo(s); err == nil {
		return info.At
	}
	return s.At
}

// IsObjectLost tells of an error that says something stored can't be read.
func IsObjectLost(err error) bool {
	return errors.Is(err, gitstore.ErrMissing) || errors.Is(err, gitstore.ErrDamaged)
}
