// Package conversations has one conversation across an agent's files, cuts and copies:
// it reads, cuts, places, counts and compares them. Which of an agent's formats it is,
// its adapter knows.
package conversations

import (
	"github.com/umbra-vcs/umbra/missions/callbacks"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Library reads the agents' conversation files, and remembers how far it has counted.
type Library struct {
	*projects.Desk

	CounterPool     *counterPool
	turnCache       *turnCache
	MaxCountedBytes int64 // of a conversation at a time; other than the constant only in tests
	PieceBytes      int64 // of a conversation that is read at a time; other than the constant only in tests
	Callbacks       callbacks.Runner
}

// New makes a Library that has read nothing.
func New(d *projects.Desk) *Library {
	return &Library{Desk: d, CounterPool: newCounterPool(), turnCache: newTurnCache(), MaxCountedBytes: MaxCountedBytes, PieceBytes: pieceBytes, Callbacks: callbacks.NewRunner()}
}
