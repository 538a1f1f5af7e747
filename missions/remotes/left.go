package remotes

import (
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// LeftTransfers are what pushes, fetches, exports and imports of a project have left that were
// killed.
func (c *Carrier) LeftTransfers(p *projects.Project) []missions.Finding {
	left, err := transfer.Left(p.Store)
	if len(left) == 0 && err == nil {
		return nil
	}
	problem := missions.Problem{Invariant: "I6", Project: p.Name}
	if err == nil {
		problem.Message = "a push, fetch, export or import was killed and has left " + left[0]
	} else {
		problem.Message = fmt.Sprintf("what was killed while it sent or brought missions can't be looked for: %v", err)
	}
	return []missions.Finding{{Problem: problem, Mend: func() error { return c.ClearTransfers(p) }}}
}

// ClearTransfers removes that: what was decrypted is there in clear.
func (c *Carrier) ClearTransfers(p *projects.Project) error { return transfer.Clear(p.Store) }

// SweepTransfers removes that of all projects.
func (c *Carrier) SweepTransfers() error {
	all, _ := c.AllProjects() // doctor says what is wrong
	var errs []error
	for _, p := range all {
		errs = append(errs, c.ClearTransfers(p))
	}
	return errors.Join(errs...)
}
