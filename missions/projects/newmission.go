package projects

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// MissionPlan is everything a mission begins with.
type MissionPlan struct {
	ID, Name, Agent string
	Command         []string
	ToolName        string    // its own name, if it is one that Umbra does not know
	ResumeCommand   []string  // and how it is resumed
	Directory       Directory // of the directory the agent runs in
	Workspace       string    // the workspace
	Subdir          string    // of root, "." for root itself
	Session         string
	Transcript      string
	Adopted         bool
	NameGiven       bool // the name was given: it is that or none
	Env             sessions.Environ
	Adapter         sessions.Adapter
	Lifecycle       missions.Lifecycle
	FirstPrompt     string // for the agent's first start, if that comes later
	EnvNames        []string
	StartedBy       string // the mission whose agent started this one
	ConfigCommit    string // the version of the agent's configuration
	Provisional     bool   // published when a later snapshot differs
	Force           bool
}

// PlanAdoption is the mission to be made of a session that was begun without Umbra in a
// directory. Its id follows from the session's, so that two plans make one mission.
func (f *MissionFinder) PlanAdoption(all []*Project, a sessions.Adapter, c missions.Caller, s sessions.Session) (MissionPlan, error) {
	g, err := InspectDirectory(s.Cwd)
	if err != nil {
		return MissionPlan{}, err
	}
	subdir, err := filepath.Rel(g.Top, g.Dir)
	return MissionPlan{
		ID: f.AdoptedID(all, a.Name(), s.ID, ""), Agent: a.Name(), Command: []string{a.Name()},
		Directory: g, Workspace: g.Top, Subdir: subdir, Session: s.ID, Transcript: s.Path,
		Adopted: true, Env: CallerEnv(c), Adapter: a,
	}, err
}

// ForkKind is a fork's kind in the journal.
const ForkKind = "fork"

// ForkDoc is a fork in flight, in the journal: what to take away if it is not
// finished. It is made durable before anything is made, and again as more is
// known.
type ForkDoc struct {
	Project string `json:"project"` // the directory in Umbra's home
	Mission string `json:"mission"`
	Name    string `json:"name"`
	// Snapshot and Record are what it is made of: pruning keeps what the journal names.
	Snapshot     string        `json:"snapshot,omitempty"`
	Record       string        `json:"record,omitempty"`
	Workspace    fork.Document `json:"workspace"`
	SessionFiles []string      `json:"session,omitempty"` // files placed in the agent's store
	// Recreated is a mission's lost workspace being made again: the mission is
	// there, and only its binding says whether the new workspace is its own.
	Recreated bool       `json:"again,omitempty"`
	Owner     lock.Owner `json:"owner"` // the process that makes it
}
