package wording

import (
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// SideForkLeft says when a side fork is left.
func SideForkLeft(p *print.Printer, r missions.SideForkResult) {
	fork, parent := print.Clean(r.ForkName), print.Clean(r.ParentName)
	switch {
	case r.Preview:
		when := ""
		if r.Queued {
			when = "when this turn of " + fork + " ends, "
		}
		p.Folded(when + parent + " would have its terminal again, and the fork " + fork + " would stay; nothing was changed")
	case r.Queued:
		p.Folded("when this turn of " + fork + " ends, " + parent + " has its terminal again; umbra undo " + fork + " --queued cancels that")
	case r.Begun:
		p.Folded("in a moment " + parent + " has this terminal again")
	case r.Resume != "":
		p.Folded("the fork " + fork + " is left, but the agent of " + parent + " could not be launched in its terminal: " + print.Clean(r.Resume))
	default:
		p.Folded(parent + " has its terminal again; to go on in the fork: umbra mission resume " + fork)
	}
	for _, note := range r.Notes {
		p.Line("note: %s", print.Clean(note))
	}
}
