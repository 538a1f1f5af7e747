package projects

import (
	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// ForkKind is a fork's kind in the journal.
const ForkKind = "fork"

// ForkDoc is a fork in flight, in the journal: what to take away if it is not
// finished. It is made durable before anything is made, and again as more is
// known.
type ForkDoc struct {
	Project      string        `json:"project"` // the directory in Umbra's home
	Mission      string        `json:"mission"`
	Name         string        `json:"name"`
	Workspace    fork.Document `json:"workspace"`
	SessionFiles []string      `json:"session,omitempty"` // files placed in the agent's store
	// Recreated is a mission's lost workspace being made again: the mission is
	// there, and only its binding says whether the new workspace is its own.
	Recreated bool       `json:"again,omitempty"`
	Owner     lock.Owner `json:"owner"` // the process that makes it
}
