package missions

import (
	"strings"
	"time"
)

// Mission is a mission as the user sees it: the projection that `mission show
// --json` prints. It is computed, never stored.
type Mission struct {
	ID                 string       `json:"id"`
	Name               string       `json:"name"`
	Agent              string       `json:"agent"`
	State              StateName    `json:"state"`
	StateSince         time.Time    `json:"state_since"`
	Managed            Managed      `json:"managed"`
	PID                int          `json:"pid,omitempty"`
	Command            []string     `json:"command"`
	Workspace          string       `json:"workspace"`
	Cwd                string       `json:"cwd"`
	Project            string       `json:"project"`
	ProjectID          string       `json:"project_id"`
	Ref                string       `json:"ref"`
	Head               string       `json:"head"`
	HeadAddress        string       `json:"head_address,omitempty"` // its address, as in the log
	Remote             string       `json:"remote,omitempty"`       // where it was fetched from: it can be read and forked, not changed
	SessionID          string       `json:"session_id,omitempty"`
	SessionPath        string       `json:"session_path,omitempty"`
	Parent             *Parent      `json:"parent,omitempty"`
	SideFork           string       `json:"side_fork,omitempty"`     // of a parked mission: the name of the fork that its terminal serves
	SideForkOf         string       `json:"side_fork_of,omitempty"`  // of a side fork: the name of the mission that it was entered from
	Beside             bool         `json:"beside,omitempty"`        // of a side fork: that mission is not parked, and both are live
	Config             string       `json:"config_commit,omitempty"` // the version of the agent's configuration
	ConfigFixed        bool         `json:"config_fixed,omitempty"`  // it is launched with that version
	CreatedAt          time.Time    `json:"created_at"`
	UpdatedAt          time.Time    `json:"updated_at"`
	Turn               int          `json:"turn"`
	LastPrompt         *Prompt      `json:"last_prompt,omitempty"`
	LastTool           *ToolUse     `json:"last_tool,omitempty"`
	Tally              *Tally       `json:"conversation,omitempty"` // what was said so far
	LastError          string       `json:"last_error,omitempty"`
	ExitCode           *int         `json:"exit_code,omitempty"`
	CloseReason        CloseReason  `json:"closed_how,omitempty"`
	Diverged           bool         `json:"diverged"`
	Git                GitState     `json:"git"`
	PendingPermissions []Permission `json:"pending_permissions"`
	PendingUpdates     int          `json:"pending_updates"`
	PromptKept         bool         `json:"prompt_kept,omitempty"` // a prompt that no agent has taken; the next launch sends it
	PendingAction      string       `json:"pending_action,omitempty"`
	CanFork            bool         `json:"can_fork"`
	ForkBlockedReason  string       `json:"fork_blocked_reason,omitempty"`
	ShadowRepo         string       `json:"shadow_repo"`
	EnvNames           []string     `json:"env_names,omitempty"`
	MadeByUmbra        bool         `json:"workspace_made_by_umbra"`
	Branch             string       `json:"branch,omitempty"`         // the branch made for a fork
	Output             string       `json:"output,omitempty"`         // what its agent printed without a terminal
	Contest            *Contest     `json:"contest,omitempty"`        // that the fork is of
	CheckOutput        string       `json:"check_output,omitempty"`   // what the newest check of its workspace printed
	ClientVersion      string       `json:"client_version,omitempty"` // the agent's version, once it has told
	Notes              []string     `json:"notes,omitempty"`          // worth knowing, and nothing is wrong
	Problems           []string     `json:"problems,omitempty"`
}

// IsAgentless reports whether a mission has no agent: it has ended, or was not started yet.
func (m Mission) IsAgentless() bool {
	return m.State == StateClosed || m.State == StateInitializing
}

// CheckOwn refuses a mission that was fetched, where one of this home is needed.
func (m Mission) CheckOwn() error {
	if m.Remote == "" {
		return nil
	}
	return Errorf(KindConflict, "umbra fork "+m.Name, "%s was fetched: it can be read and forked here, not changed", m.Name)
}

// IsUnmanned reports whether a mission has no agent, and no keeper that is about to start
// one or has not told of its start yet.
func (m Mission) IsUnmanned() bool { return m.IsAgentless() && m.Managed != ManagedKeeper }

// StateWords is its state as people are told: what nobody has launched is not about to
// begin.
func (m Mission) StateWords() string {
	if m.State == StateInitializing && m.IsUnmanned() {
		return NotLaunched
	}
	return string(m.State)
}

// Parent is where a fork came from.
type Parent struct {
	Mission  string `json:"mission"`
	Snapshot string `json:"snapshot"`
}

// Prompt is what the user asked for, and when.
type Prompt struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// ToolUse is a tool call of an agent.
type ToolUse struct {
	ID     string    `json:"id,omitempty"` // the agent's id of the call
	Name   string    `json:"name"`
	Target string    `json:"target"`
	At     time.Time `json:"at"`
	// Description is what the agent says that the call does, "" if it says nothing.
	Description string `json:"description,omitempty"`
}

// Words are a tool call on one line: what the agent says of it, or what it acts on.
func (t ToolUse) Words() string {
	if about := strings.Join(strings.Fields(t.Description), " "); about != "" {
		return t.Name + ": " + about
	}
	return strings.Join(strings.Fields(t.Name+" "+t.Target), " ")
}

// GitState is the user's repository as a mission's workspace sees it.
type GitState struct {
	Head      string `json:"head"`
	Branch    string `json:"branch"`
	Operation string `json:"operation,omitempty"` // merge, rebase …
}

// Managed says how Umbra hears of a mission's agent.
type Managed string

// The ways a mission is managed.
const (
	ManagedKeeper Managed = "keeper" // its terminal is owned by an umbra process
	ManagedHooks  Managed = "hooks"
	ManagedNone   Managed = "none"
)

// CloseReason says how a mission was closed.
type CloseReason string

// The ways a mission ends. An exit code of the agent is HowExit.
const (
	CloseReasonExit      CloseReason = "exit"
	CloseReasonLost      CloseReason = "lost" // its process is gone without a word
	CloseReasonDiscarded CloseReason = "discarded"
	CloseReasonPromoted  CloseReason = "promoted"
	CloseReasonImported  CloseReason = "imported" // it was over when Umbra first saw it
	CloseReasonParked    CloseReason = "parked"   // its terminal was given to its side fork
)

// NewMissionRequest asks for a mission without a parent.
type NewMissionRequest struct {
	Caller    Caller   `json:"caller"`
	Name      string   `json:"name,omitempty"`
	NameMade  bool     `json:"name_made,omitempty"` // Name was not typed, but made of another mission's
	Agent     string   `json:"agent,omitempty"`
	Workspace string   `json:"workspace,omitempty"`
	Prompt    string   `json:"prompt,omitempty"`
	Command   []string `json:"command,omitempty"`
	EnvNames  []string `json:"env_names,omitempty"` // names of the variables given at launch
	Launching bool     `json:"launching"`           // a keeper will launch the agent at once
	Force     bool     `json:"force,omitempty"`     // take a root that is over the budget
}

// MissionsRequest lists missions.
type MissionsRequest struct {
	Caller Caller `json:"caller"`
	All    bool   `json:"all,omitempty"`
	Live   bool   `json:"live,omitempty"`
	// Fetched are those that were fetched, behind the others.
	Fetched bool `json:"fetched,omitempty"`
}

// MissionRequest names one mission; "" is the default one.
type MissionRequest struct {
	Caller Caller `json:"caller"`
	Name   string `json:"name"`
}

// RenameRequest renames a mission.
type RenameRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission"`
	Name    string `json:"name"`
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
