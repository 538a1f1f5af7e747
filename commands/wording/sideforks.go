package wording

import (
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// ParentOfSideFork says what the mission does meanwhile that a side fork was entered from.
func ParentOfSideFork(fork missions.Mission) string {
	if fork.Beside {
		return "which goes on in its own terminal"
	}
	return "which is parked"
}

// SideForkLeft says when a side fork is left.
func SideForkLeft(p *print.Printer, r missions.SideForkResult) {
	fork, parent, returned := print.Clean(r.ForkName), print.Clean(r.ParentName), "its terminal"
	if r.InPlace {
		returned = "its terminal and its files"
	}
	switch {
	case r.Beside && r.Preview:
		when := ""
		if r.Queued {
			when = "when this turn of " + fork + " ends, "
		}
		p.Folded(when + "the agent and the terminal of " + fork + " would end; nothing was changed")
	case r.Beside && r.Queued:
		p.Folded("when this turn of " + fork + " ends, its agent and its terminal end; umbra undo " + fork + " --queued cancels that")
	case r.Beside && r.Begun:
		p.Folded("in a moment " + fork + " and this terminal end; " + parent + " goes on in its own")
	case r.Beside:
		p.Folded(fork + " is left; to go on in it: umbra mission resume " + fork)
	case r.Preview:
		when := ""
		if r.Queued {
			when = "when this turn of " + fork + " ends, "
		}
		p.Folded(when + parent + " would have " + returned + " again, and the fork " + fork + " would stay; nothing was changed")
	case r.Queued:
		p.Folded("when this turn of " + fork + " ends, " + parent + " has " + returned + " again; umbra undo " + fork + " --queued cancels that")
	case r.Begun:
		p.Folded("in a moment " + parent + " has this terminal again")
	case r.Resume != "":
		p.Folded("the fork " + fork + " is left, but the agent of " + parent + " could not be launched in its terminal: " + print.Clean(r.Resume))
	default:
		p.Folded(parent + " has " + returned + " again; to go on in the fork: umbra mission resume " + fork)
	}
	for _, note := range r.Notes {
		p.Line("note: %s", print.Clean(note))
	}
}
