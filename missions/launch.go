package missions

import (
	"encoding/json"
	"time"
)

// LaunchRequest asks how to start a mission's agent.
type LaunchRequest struct {
	Caller    Caller   `json:"caller"`
	Mission   string   `json:"mission"`
	KeeperPID int      `json:"keeper_pid"` // who will run it: from now on the mission is that process's
	Resume    bool     `json:"resume"`     // false: its first start
	Prompt    string   `json:"prompt,omitempty"`
	Command   []string `json:"command,omitempty"`  // replaces the recorded one
	Config    string   `json:"config,omitempty"`   // of the agent: now, or a version's id; "" as it is
	Recreate  string   `json:"recreate,omitempty"` // another directory to put a lost workspace back into
	EnvNames  []string `json:"env_names,omitempty"`
	// Variables names what the agent's environment will have: some agents pass on to their
	// tools what is named alone.
	Variables []string `json:"variables,omitempty"`
	// Headless asks for the agent's command that answers the prompt without a terminal,
	// and ends.
	Headless bool `json:"headless,omitempty"`
	// SumUp asks for that command in a terminal that stays, with a prompt that is not the
	// user's.
	SumUp bool `json:"sum_up,omitempty"`
	// Passing says that the prompt is of this launch alone: no later launch sends it if the
	// agent does not take it, and the prompt that is kept for the agent stays kept.
	Passing bool `json:"passing,omitempty"`
}

// Launch is what a keeper runs.
type Launch struct {
	ID      string            `json:"id"` // tells this launch from others in a keeper's reports
	Mission Mission           `json:"mission"`
	Argv    []string          `json:"argv"`
	Dir     string            `json:"dir"`
	Env     map[string]string `json:"env"`             // added to the keeper's own environment
	Unset   []string          `json:"unset,omitempty"` // names taken out of that first
	Notes   []string          `json:"notes,omitempty"`
	Output  string            `json:"output,omitempty"` // the file that a headless agent prints to

	LookIn    time.Duration `json:"look_in,omitempty"`    // when the keeper asks whether the agent is idle; 0 is never
	TimeLimit time.Duration `json:"time_limit,omitempty"` // after which the keeper ends the agent; 0 for none
}

// LiveLimit are the details of the error of a launch for which too many missions are live.
type LiveLimit struct {
	MaxLive int `json:"max_live"` // as configured
}

// IsLiveLimit reports whether a launch was refused since too many missions are live: it
// may be tried again when one has ended.
func IsLiveLimit(err error) bool {
	var limit LiveLimit
	return err != nil && json.Unmarshal(AsError(err).Details, &limit) == nil && limit.MaxLive > 0
}

// KeepRequest is a keeper's report: its agent started (Ended false), or ended.
type KeepRequest struct {
	Caller    Caller `json:"caller"` // the keeper, as it asks to launch
	Mission   string `json:"mission"`
	Launch    string `json:"launch"` // the id of the launch that it is about
	KeeperPID int    `json:"keeper_pid"`
	AgentPID  int    `json:"agent_pid"`
	Ended     bool   `json:"ended"`
	ExitCode  int    `json:"exit_code"`
	// Leaving says that the keeper was told to end itself: it launches no other agent.
	Leaving bool `json:"leaving,omitempty"`
	// Failed says that the agent could not be started at all.
	Failed string `json:"failed,omitempty"`
	// Looks says that the agent runs, and that the keeper asks whether it is idle; TypedAt
	// is when something was read from its terminal last.
	Looks   bool      `json:"looks,omitempty"`
	TypedAt time.Time `json:"typed_at,omitzero"`
	// Idle says that the keeper has ended the agent because it was idle.
	Idle bool `json:"idle,omitempty"`
	// Variables are for the next launch what they are in a LaunchRequest.
	Variables []string `json:"variables,omitempty"`
}

// KeepResult tells a keeper what to do when its agent has ended.
type KeepResult struct {
	Do     string  `json:"do"` // exit, relaunch, wait or end
	Launch *Launch `json:"launch,omitempty"`
	Banner string  `json:"banner,omitempty"` // lines for the agent's terminal
	// NotLaunched says that Umbra has ended the agent, and could launch none after it: the
	// Unfinished says that what the agent was ended for leaves its user something to type,
	// which Banner says.
	Unfinished bool `json:"unfinished,omitempty"`
	// exit code of the agent means nothing.
	NotLaunched bool `json:"not_launched,omitempty"`
	// Summary is a line for the user when the keeper exits: what was kept, how to go on.
	Summary string `json:"summary,omitempty"`
	// LookIn is when a keeper that looks asks again, and Ring that its terminal's bell is
	// to be rung.
	LookIn time.Duration `json:"look_in,omitempty"`
	Ring   bool          `json:"ring,omitempty"`
}

// What a keeper can be told to do.
const (
	DoExit     = "exit"
	DoRelaunch = "relaunch"
	DoWait     = "wait" // for the end of what the agent was ended for, or of its idleness: ask again
	DoEnd      = "end"  // the agent, which is idle, and report its end
)

// WaitRequest waits for missions to be in one of some states.
type WaitRequest struct {
	Caller   Caller        `json:"caller"`
	Missions []string      `json:"missions"`
	States   []StateName   `json:"states,omitempty"` // default idle, waiting, closed, error
	Any      bool          `json:"any,omitempty"`
	Timeout  time.Duration `json:"timeout,omitempty"` // 0: forever
}

// StopRequest stops the agents of missions.
type StopRequest struct {
	Caller   Caller   `json:"caller"`
	Missions []string `json:"missions"`
	Force    bool     `json:"force,omitempty"` // also where the agent's process is not known: it has ended
}

// The moments of a mission at which automations run.
const (
	OnReady = "ready"
	OnIdle  = "idle"
	OnError = "error"
	OnClose = "close"
)
