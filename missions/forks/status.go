package forks

import (
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// IsAbandoned reports whether the process of an operation in flight is not known
// to be at work on it still.
func IsAbandoned(op *journal.Operation) bool {
	var doc struct {
		Owner lock.Owner `json:"owner"`
	}
	return op.Document(&doc) != nil || doc.Owner.Liveness() != lock.Alive
}
