package missions

import "time"

// HookRequest is one hook call of an agent, or a hint of an editor or of Git.
type HookRequest struct {
	Caller  Caller `json:"caller"`
	Agent   string `json:"agent"`
	Event   string `json:"event,omitempty"`
	Payload []byte `json:"payload"`
	// AgentPID is the agent's process as the hook found it, for an agent that does
	// not report its own.
	AgentPID int `json:"agent_pid,omitempty"`
	// Alone says of a hint that nobody serves: the caller's own process, which is
	// waited for, carries it out. A closed mission gets no snapshot then, and a
	// save none where another process has the workspace.
	Alone bool `json:"-"`
}

// HookResult is what the hook prints, and what happened.
type HookResult struct {
	Output   []byte `json:"output,omitempty"`
	Mission  string `json:"mission,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
	// Problem is an error in Umbra that the agent is not to be bothered with.
	Problem string `json:"problem,omitempty"`
	// Asked is a command that a person has typed. Output says what to do where it
	// can't be carried out.
	Asked *AskedCommand `json:"asked,omitempty"`
	// StatusLine is what the agent's status line is to tell.
	StatusLine *StatusLine `json:"line,omitempty"`
}

// AskedCommand is a command of Umbra's that a person has typed as the agent's prompt.
// The caller of the hook carries it out, with HookResult.Mission as the default mission.
type AskedCommand struct {
	Words string `json:"words"` // as they were typed
}

// StatusLine is what an agent's status line tells of its mission.
type StatusLine struct {
	Mission  string    `json:"mission"`           // its name
	Address  string    `json:"address,omitempty"` // of the last snapshot
	Turn     int       `json:"turn"`
	State    StateName `json:"state"`
	Snapshot time.Time `json:"snapshot"` // when the last one was taken
	Action   string    `json:"pending_action,omitempty"`
	Problems int       `json:"problems,omitempty"`
	ForkOf   string    `json:"side_fork_of,omitempty"` // of a side fork: the name of its parent
	Stopped  string    `json:"stopped,omitempty"`      // why no snapshots are taken now; "" if they are
	Ends     time.Time `json:"ends,omitzero"`          // when a side fork is ended unless its user goes on; zero if it is not
}

// HooksRequest is about the hooks of an agent or editor.
type HooksRequest struct {
	Caller  Caller `json:"caller"`
	Name    string `json:"name"`
	Project bool   `json:"project,omitempty"`
	Shared  bool   `json:"shared,omitempty"`
}

// HooksListRequest is about all hooks that there can be for a caller.
type HooksListRequest struct {
	Caller Caller `json:"caller"`
}

// HooksResult says where hooks are and what state they are in.
type HooksResult struct {
	Name string `json:"name"`
	File string `json:"file"`
	// Project and Shared are the request's, and Shared is also set where a
	// repository's Git hooks stand among the files that its team tracks.
	Project bool `json:"project,omitempty"`
	Shared  bool `json:"shared,omitempty"`
	// Absent: the program whose hooks they are was not found.
	Absent    bool `json:"absent,omitempty"`
	Installed bool `json:"installed"`
	Changed   bool `json:"changed"`
	// Plugin is the agent's plugin that brings the hooks too, as its user names it.
	Plugin   string   `json:"plugin,omitempty"`
	Command  string   `json:"command,omitempty"`
	Missing  []string `json:"missing,omitempty"`
	Adopts   string   `json:"adopts,omitempty"`
	Extras   []string `json:"extras,omitempty"` // what came with the hooks, and where it is
	Problems []string `json:"problems,omitempty"`
	// ToolsFile is the agent's own file to which Umbra has had the agent add its tools.
	ToolsFile string `json:"tools_file,omitempty"`
}
