// Package snapshots takes snapshots: from a workspace and its conversation to a
// published commit. It alone moves a mission's refs. What is asked of a mission waits
// in a queue, and requests that wait may be answered by one snapshot.
package snapshots

import (
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Taker takes snapshots of missions, in order, and remembers their workspaces.
type Taker struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library

	Effects     Effects       // handed in by the rooms that own them
	GitPatience time.Duration // usergit.Patience, but for tests

	mu              sync.Mutex
	requestQueues   map[string]*requestQueue // by mission
	OwedRetries     map[string]*OwedRetry    // by mission
	findOwedOnce    sync.Once
	workspaceCaches map[home.FileIdentity]*WorkspaceCache
	walkLog         walkLog
}

// New makes a Taker that knows no workspace.
func New(d *projects.Desk, a *addresses.Finder, c *conversations.Library) *Taker {
	return &Taker{
		Desk: d, addresses: a, conversations: c, GitPatience: usergit.Patience,
		requestQueues: map[string]*requestQueue{}, OwedRetries: map[string]*OwedRetry{},
		workspaceCaches: map[home.FileIdentity]*WorkspaceCache{}, walkLog: newWalkLog(),
	}
}
