package missions

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/fork"
)

// recordFormat is the version of the documents in a record.
const recordFormat = 1

// Names of a record's documents; docs/format.md describes each.
const (
	missionDoc   = "mission.json"
	operationDoc = "operation.json"
	snapshotDoc  = "snapshot.json"
	rulesDoc     = "rules.json"
	skippedDoc   = "skipped.json"
	modesDoc     = "modes.json"
	gitDoc       = "git/state.json"
	stagedDoc    = "git/staged.json"
)

// bindingsDir is where a record has one document for each machine it is bound to.
const bindingsDir = "bindings"

func bindingDoc(machine string) string { return bindingsDir + "/" + machine + ".json" }

// stored is a mission's portable record: what is true of it on every machine.
type stored struct {
	Format    int             `json:"format"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Agent     string          `json:"agent"`
	Tool      string          `json:"tool,omitempty"`   // its name, where Agent is one for all tools that Umbra does not know
	Resume    []string        `json:"resume,omitempty"` // how such a tool has said that it is resumed
	Command   []string        `json:"command"`          // without secrets: see mayRecord
	Lifecycle json.RawMessage `json:"lifecycle"`
	Since     time.Time       `json:"state_since"`
	CreatedAt time.Time       `json:"created_at"`
	UpdatedAt time.Time       `json:"updated_at"`
	Parent    *Parent         `json:"parent,omitempty"`
	Session   string          `json:"session,omitempty"`  // the session it goes on in
	Sessions  []string        `json:"sessions,omitempty"` // those before, oldest first
	Diverged  bool            `json:"diverged,omitempty"`
	// Config is the version of the agent's configuration that the mission began
	// or was launched with; ConfigFixed says that it is to be launched with it,
	// whatever the configuration is by then.
	Config      string   `json:"config_commit,omitempty"`
	ConfigFixed bool     `json:"config_fixed,omitempty"`
	LastPrompt  *Prompt  `json:"last_prompt,omitempty"`
	LastTool    *ToolUse `json:"last_tool,omitempty"`
	LastError   string   `json:"last_error,omitempty"`
	EnvNames    []string `json:"env_names,omitempty"`
	Subdir      string   `json:"subdir,omitempty"` // of the workspace, where the agent runs
	Adopted     bool     `json:"adopted,omitempty"`
	Unnamed     bool     `json:"unnamed,omitempty"` // to be named by its first prompt
	Notes       []note   `json:"notes,omitempty"`   // for the agent's next prompt
	// FirstPrompt is sent to the agent when it is launched for the first time.
	FirstPrompt string `json:"first_prompt,omitempty"`
	// Fresh says that Command was given to a fork and was not run yet.
	Fresh     bool   `json:"fresh_command,omitempty"`
	StartedIn string `json:"started_in,omitempty"` // the mission whose agent started this one
	// Talk counts the conversation, Left those that the user has left behind, Behind
	// what Left holds of each session.
	Talk   *tallied         `json:"talk,omitempty"`
	Left   *Tally           `json:"talk_left,omitempty"`
	Behind map[string]Tally `json:"talk_behind,omitempty"`
	// Step is the place in its turn of the snapshot that the record is of.
	Step *turnStep `json:"step,omitempty"`
}

// turnStep is a snapshot's place in its turn, as number gives it.
type turnStep struct {
	K     int  `json:"k"`
	Ends  bool `json:"ends,omitempty"`
	Ended bool `json:"ended,omitempty"`
}

// binding is what is true of a mission on one machine.
type binding struct {
	Machine   string            `json:"machine"`
	Workspace string            `json:"workspace"` // absolute, resolved
	Place     Place             `json:"place"`
	Scope     string            `json:"scope,omitempty"` // of the workspace below its Git top level
	CommonDir string            `json:"git_common_dir,omitempty"`
	Root      string            `json:"agent_root,omitempty"`
	Vars      map[string]string `json:"agent_vars,omitempty"`
	Session   string            `json:"session_path,omitempty"`
	// SessionFile is the session file's identity when it was recorded last.
	SessionFile Place          `json:"session_file,omitzero"`
	Made        bool           `json:"made_by_umbra,omitempty"`
	Branch      string         `json:"branch,omitempty"`
	Worktree    string         `json:"worktree,omitempty"` // the top of the linked worktree Umbra made
	Fork        *fork.Document `json:"fork,omitempty"`     // how to take the workspace away again
}

// Place identifies a directory, whatever its path.
type Place struct {
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
}

// String tells places of one machine apart.
func (p Place) String() string { return fmt.Sprintf("%d:%d", p.Device, p.Inode) }

// operation is what Umbra did to a mission by itself.
type operation struct {
	ID         string          `json:"id"`
	Kind       string          `json:"kind"` // restore, undo, redo, fork
	Target     string          `json:"target,omitempty"`
	Safety     string          `json:"safety,omitempty"`
	Keep       []Kept          `json:"keep,omitempty"`
	Before     string          `json:"session_before,omitempty"`
	BeforePath string          `json:"session_before_path,omitempty"`
	After      string          `json:"session_after,omitempty"`
	AfterPath  string          `json:"session_after_path,omitempty"`
	TakesBack  string          `json:"takes_back,omitempty"` // the operation an undo or redo is of
	Handover   string          `json:"handover,omitempty"`   // the id of the handover that it was done in
	Plan       json.RawMessage `json:"plan,omitempty"`
	Parts      string          `json:"parts,omitempty"` // files, conversation, both
}

// snapshotInfo is what a record says of its snapshot beyond the commit.
type snapshotInfo struct {
	Format     int       `json:"format"`
	At         time.Time `json:"at"`
	Triggers   []string  `json:"triggers"`
	Turn       int       `json:"turn"`
	Prompt     string    `json:"prompt,omitempty"`
	Files      int       `json:"files"`
	Bytes      int64     `json:"bytes"`
	Events     int       `json:"session_events"`
	Changing   []string  `json:"changing,omitempty"`
	Consistent bool      `json:"consistent"`
	Late       bool      `json:"late,omitempty"`
	Moment     time.Time `json:"moment,omitzero"`   // that it was asked for, where there was no room for it then
	Unheard    bool      `json:"unheard,omitempty"` // of an agent without hooks: when a turn began is not known
	Partial    bool      `json:"partial,omitempty"`
	Corrected  int       `json:"corrected,omitempty"`
	OpenTools  []string  `json:"pending_tools,omitempty"`
	Talk       *Tally    `json:"talk,omitempty"`     // what was said in the mission so far
	Requests   []string  `json:"requests,omitempty"` // ids of those that it answers
}

// writeDoc puts v into a record as JSON.
func writeDoc(t *gitstore.RecordTree, path string, v any) error {
	p, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return t.Put(path, append(p, '\n'))
}

// parseDoc reads a document of a record strictly enough to be trusted.
func parseDoc(path string, p []byte, v any) error {
	if err := json.Unmarshal(p, v); err != nil {
		return Errorf(KindDamaged, "umbra doctor", "%s of a record can't be read: %w", path, err)
	}
	return nil
}

// storedAt reads the mission as a record has it.
func (p *project) storedAt(record gitstore.ID) (stored, error) {
	var s stored
	doc, err := p.store.RecordFile(record, missionDoc)
	if err != nil {
		return s, Errorf(KindDamaged, "umbra doctor", "record %s: %w", record.Short(), err)
	}
	return s, parseDoc(missionDoc, doc, &s)
}
