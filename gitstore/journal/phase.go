package journal

import (
	"errors"
	"fmt"
	"slices"
)

// Phase is how far an operation has come.
type Phase string

// An operation goes down this list; what a killed process left is interrupted
// when people have gone on working meanwhile, and then goes on as they choose.
const (
	Staging     Phase = "staging"  // staged files are being written, nothing else has changed
	Staged      Phase = "staged"   // the document and all staged files are durable
	Applying    Phase = "applying" // the workspace is being changed
	Applied     Phase = "applied"  // the workspace is changed, the result is not committed yet
	Done        Phase = "done"     // committed; what was displaced may still be kept
	Interrupted Phase = "interrupted"
)

// ErrPhase is returned for a transition that no operation makes.
var ErrPhase = errors.New("operation cannot go there from its phase")

// CanBecome reports whether an operation may go from phase p to next.
func (p Phase) CanBecome(next Phase) bool {
	var after []Phase
	switch p {
	case Staging:
		after = []Phase{Staged, Interrupted, Done}
	case Staged:
		after = []Phase{Applying, Interrupted, Done}
	case Applying:
		after = []Phase{Applied, Interrupted, Done}
	case Applied:
		after = []Phase{Done, Interrupted}
	case Interrupted:
		after = []Phase{Applying, Applied, Done}
	}
	return slices.Contains(after, next)
}

func (p Phase) known() bool {
	return slices.Contains([]Phase{Staging, Staged, Applying, Applied, Done, Interrupted}, p)
}

func phaseError(id string, from, to Phase) error {
	return fmt.Errorf("operation %s: %s to %s: %w", id, from, to, ErrPhase)
}
