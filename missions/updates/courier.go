// Package updates has the text that one mission has for the agent of another: it queues
// the text, gives it to the agent with a prompt, and knows from the agent's conversation
// whether the agent has it. It starts no agent and takes no snapshot.
package updates

import (
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Courier queues updates and delivers them.
type Courier struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
}

// New makes a Courier.
func New(d *projects.Desk, a *addresses.Finder, c *conversations.Library) *Courier {
	return &Courier{Desk: d, addresses: a, conversations: c}
}
