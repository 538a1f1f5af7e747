package missions

import (
	"encoding/json"
	"time"
)

// HookRequest is one hook call of an agent, or a hint (GivesHints).
type HookRequest struct {
	Caller  Caller `json:"caller"`
	Agent   string `json:"agent"`
	Event   string `json:"event,omitempty"`
	Payload []byte `json:"payload"`
	// AgentPID is the agent's process as the hook found it (AgentAbove), for an
	// agent that does not say.
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
	Absent    bool     `json:"absent,omitempty"`
	Installed bool     `json:"installed"`
	Changed   bool     `json:"changed"`
	Command   string   `json:"command,omitempty"`
	Missing   []string `json:"missing,omitempty"`
	Adopts    string   `json:"adopts,omitempty"`
	Extras    []string `json:"extras,omitempty"` // what came with the hooks, and where it is
	Problems  []string `json:"problems,omitempty"`
}

// StatusRequest asks for the state of things here.
type StatusRequest struct {
	Caller Caller `json:"caller"`
	// Brief asks for no more than the missions that work here, as they were last
	// written down: nothing is looked for, and nobody waited for.
	Brief bool `json:"brief,omitempty"`
}

// Status is one glance at Umbra.
type Status struct {
	Daemon       *DaemonStatus    `json:"daemon,omitempty"` // absent in process
	Home         string           `json:"home"`
	Project      *Project         `json:"project,omitempty"`
	Missions     []Mission        `json:"missions"`
	LastSnapshot *Entry           `json:"last_snapshot,omitempty"`
	Walks        []WorkspaceWalks `json:"walks,omitempty"` // since the daemon began to watch
	// Unread counts, by workspace, what was taken over by what Git says of it.
	Unread []UnreadFiles `json:"unread,omitempty"`
	// LeftOut are the missions whose snapshots lack files for a project's own file.
	LeftOut  []LeftOutFiles `json:"left_out,omitempty"`
	Problems []Problem      `json:"problems"`
	// StoppedReason is why no snapshots are taken now, in a few words: nothing may be
	// written in the home. "" if they are.
	StoppedReason string `json:"stopped,omitempty"`
}

// DaemonStatus describes the process that serves the socket.
type DaemonStatus struct {
	Running     bool      `json:"running"`
	PID         int       `json:"pid"`
	Version     string    `json:"version"`
	StartedAt   time.Time `json:"started_at"`
	Socket      string    `json:"socket"`
	Missions    int       `json:"missions"`
	Watches     int       `json:"watches"`
	MemoryBytes int64     `json:"memory_bytes"`
	Overflows   int       `json:"overflows"`
	// Housekeeping is what was last done in each project, newest first.
	Housekeeping []Housekeeping `json:"housekeeping,omitempty"`
	Problem      string         `json:"problem,omitempty"` // why it is of no use as it is
}

// Problem is something wrong, and the command that mends it.
type Problem struct {
	Invariant string `json:"invariant,omitempty"` // I1 … I8
	Project   string `json:"project,omitempty"`
	Mission   string `json:"mission,omitempty"`
	Message   string `json:"message"`
	Fix       string `json:"fix,omitempty"`
	// Details are what git says of it, or all that a message only counts.
	Details []string `json:"details,omitempty"`

	ProjectsUnlisted bool `json:"-"` // the projects that there are are not known
}

// DoctorRequest asks for a check of every invariant.
type DoctorRequest struct {
	Caller  Caller `json:"caller"`
	Rebuild bool   `json:"rebuild,omitempty"`
	Fix     bool   `json:"fix,omitempty"`
}

// DoctorResult lists what was checked and what is wrong.
type DoctorResult struct {
	Projects  int      `json:"projects"`
	Missions  int      `json:"missions"`
	Snapshots int      `json:"snapshots"`
	Checked   []string `json:"checked"`
	// Verified are the projects in which something borrowed from the user's
	// repository had not been compared with its ids until now.
	Verified []string `json:"verified,omitempty"`
	// SetAside are the directories of damaged files that were mended around:
	// nothing reads them, and they count in the home's budget.
	SetAside []SetAside `json:"set_aside,omitempty"`
	// Lost is what is lost for good and was said before, as a problem.
	Lost     []Problem `json:"lost,omitempty"`
	Problems []Problem `json:"problems"`
	Fixed    []Problem `json:"fixed"`
	Rebuilt  bool      `json:"rebuilt"`
}

// SetAside is a directory that the user may delete, with what it takes on disk.
type SetAside struct {
	Project string `json:"project"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
}

// Index is a cache of what can be read from refs and journal. A nil Index is
// no cache. Keys are ids of immutable things, so an entry is never stale; an
// error means only that the cache does not help. Safe for concurrent use.
type Index interface {
	Get(key string) (json.RawMessage, bool)
	Put(key string, value json.RawMessage)
	// Each calls fn for every entry, in key order, until it returns false.
	// An error says why the cache can't be used.
	Each(fn func(key string, value json.RawMessage) bool) error
	// Reset empties the cache.
	Reset() error
}
