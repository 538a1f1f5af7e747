// Package forks is the verbs of background forks, and how the forks that were made are
// printed. It runs no agent itself: each has a keeper, which is another process.
package forks

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// TellForked says what forks begin from, and what could not come along.
func TellForked(c *call.Call, r missions.ForkResult) {
	if c.Quiet {
		return
	}
	c.EndProgress()
	WriteForked(c.Err, r)
	_ = c.Err.Flush() // nobody is left to tell
}

// WriteForked prints what forks begin from, and what could not come along.
func WriteForked(p *print.Printer, r missions.ForkResult) {
	p.Line("forked from %s (%s)", print.Clean(r.Source.Address), print.Short(r.Source.ID))
	for _, m := range r.Missions {
		p.Line("  %s in %s", print.Clean(m.Name), print.Clean(m.Workspace))
	}
	print.WriteKept(p, "did not come along, or not as it was", r.LeftOut)
	const most = 10
	for i, path := range r.PointsIn {
		switch {
		case i == 0:
			p.Line("these ignored files point back into the source:")
			fallthrough
		case i < most:
			p.Line("  %s", print.Path(path))
		case i == most:
			p.Line("  … and %d more", len(r.PointsIn)-most)
		}
	}
	for _, note := range r.Notes {
		p.Line("note: %s", print.Clean(note))
	}
}
