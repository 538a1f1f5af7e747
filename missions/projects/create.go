package projects

import (
	"path/filepath"

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

// AbsolutePath is path as seen from dir.
func AbsolutePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
