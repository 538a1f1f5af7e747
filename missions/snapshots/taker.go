// Package snapshots takes snapshots: from a workspace and its conversation to a
// published commit. It alone moves a mission's refs. What is asked of a mission waits
// in a queue, and requests that wait may be answered by one snapshot.
package snapshots

import (
	"sync"

	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Taker takes snapshots of missions, in order, and remembers their workspaces.
type Taker struct {
	*projects.Desk
	*Workspaces
	*EntryReader
	*SessionRecorder
	*requestQueues
	addresses     *addresses.Finder
	conversations *conversations.Library

	Effects Effects // handed in by the rooms that own them

	owedMu       sync.Mutex
	OwedRetries  map[string]*OwedRetry // by mission
	findOwedOnce sync.Once
}

// New makes a Taker that knows no workspace.
func New(d *projects.Desk, a *addresses.Finder, c *conversations.Library) *Taker {
	return &Taker{
		Desk: d, addresses: a, conversations: c, Workspaces: newWorkspaces(d), EntryReader: &EntryReader{d},
		SessionRecorder: &SessionRecorder{d, c}, requestQueues: newRequestQueues(d), OwedRetries: map[string]*OwedRetry{},
	}
}
