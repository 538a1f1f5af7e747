package projects

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// TriggersOf reads a snapshot's trailer.
func TriggersOf(s *gitstore.Snapshot) missions.Triggers {
	out := make(missions.Triggers, len(s.Triggers))
	for i, t := range s.Triggers {
		out[i] = missions.Trigger(t)
	}
	return out
}
