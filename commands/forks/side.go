package forks

import (
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
)

// Enter is `umbra fork enter`.
func Enter() *call.Verb {
	var r missions.EnterForkRequest
	return &call.Verb{
		Name: "enter", Args: "[MOMENT]", Max: 1, Short: "try something aside: a fork takes over the terminal of a mission, which is parked",
		Long: `Forks the mission as umbra fork does, ends its agent when its turn ends, and launches
the fork's agent in the same terminal. The mission is parked: its files and its
conversation stay as they are. It is back in its terminal after umbra fork exit, umbra
fork report or umbra promote, and when the fork's agent ends. Works from within the
agent too: by you, or by the agent itself. One fork at a time, and none inside it (exit
code 11). An agent that Umbra has not started keeps its terminal, and the fork gets one
beside it: by launch.open if that is configured, else in a pane of tmux. Without either,
the command to type in another terminal is named. With --in-place no files are copied: the
fork works in the mission's own workspace, and the mission has its files back when the
fork is left, by a restore that umbra undo takes back; what umbra promote brings stays.`,
		Flags: []flags.Flag{
			flags.String("topic", "let the fork's agent begin with the prompt `TEXT`", &r.Topic),
			flags.Duration("idle-timeout", "end the fork when nobody was at it for `DURATION`, and as long again after you were asked", &r.IdleTimeout),
			flags.Bool("in-place", "have the fork work in the mission's workspace, whose files are put back when it is left", &r.InPlace),
			flags.Bool("preview", "say what would happen, change nothing", &r.Preview),
		},
		Run: func(c *call.Call) error {
			svc, caller, ctx, err := c.Asking()
			if err != nil {
				return err
			}
			r.Caller, r.Moment, r.Yes = caller, c.Arg(0), c.Yes
			done, err := svc.EnterFork(ctx, r)
			if err != nil {
				return err
			}
			if done.Beside && !done.Preview {
				if err := openBeside(c, &done); err != nil {
					return err
				}
			}
			return c.TellDone(done, func(p *print.Printer) { writeEntered(p, done) })
		},
	}
}

// openBeside opens a terminal for a fork that was entered from an agent which keeps its own.
func openBeside(c *call.Call, done *missions.SideForkResult) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: done.Fork})
	if err != nil {
		return err
	}
	opened, err := Open(c, []missions.Mission{m})
	if opened && (err == nil || errors.Is(err, context.Canceled)) { // one that was waited for lives on
		done.Opened = "launch.open"
		return nil
	}
	if err != nil {
		done.Notes = append(done.Notes, missions.AsError(err).Message)
	}
	if opened, err = openPane(c, m); opened {
		done.Opened = "tmux"
		return nil
	}
	if err != nil {
		done.Notes = append(done.Notes, missions.AsError(err).Message)
	}
	done.Resume = "umbra mission resume " + m.Name
	return nil
}

func writeEntered(p *print.Printer, r missions.SideForkResult) {
	parent, takesOver := print.Clean(r.ParentName), "its terminal"
	if r.InPlace {
		takesOver = "its terminal and its workspace"
	}
	switch {
	case r.Beside:
		writeEnteredBeside(p, r)
	case r.Preview:
		when, at := "", " as it is now"
		if r.Queued {
			when = "when this turn of " + parent + " ends, "
		}
		if r.Moment != "" {
			at = " at " + print.Clean(r.Moment)
		}
		p.Folded(when + parent + " would be parked, and a fork of it" + at + " would take over " + takesOver + "; nothing was changed")
	case r.Queued:
		p.Folded("when this turn of " + parent + " ends, it is parked, and a fork of it takes over " + takesOver + "; umbra undo " + parent + " --queued cancels that")
	case r.Begun:
		p.Folded("in a moment " + parent + " is parked, and a fork of it takes over this terminal")
	case r.InPlace:
		p.Folded(parent + " is parked; its terminal and its workspace have the fork " + print.Clean(r.ForkName) + ", until that is left")
	default:
		p.Folded(parent + " is parked; its terminal has the fork " + print.Clean(r.ForkName))
	}
	for _, note := range r.Notes {
		p.Line("note: %s", print.Clean(note))
	}
}

func writeEnteredBeside(p *print.Printer, r missions.SideForkResult) {
	parent, fork := print.Clean(r.ParentName), print.Clean(r.ForkName)
	switch {
	case r.Preview:
		at := " as it is now"
		if r.Moment != "" {
			at = " at " + print.Clean(r.Moment)
		}
		p.Folded(parent + " would go on in its terminal, which Umbra has not started, and a fork of it" + at + " would get one beside it; nothing was changed")
		return
	case r.Resume != "":
		p.Folded(parent + " goes on in this terminal, which Umbra has not started; for the fork " + fork + ", type in another: " + print.Clean(r.Resume))
	case r.Opened == "tmux":
		p.Folded(parent + " goes on here; the fork " + fork + " is in tmux beside it")
	default:
		p.Folded(parent + " goes on here; launch.open has opened the fork " + fork)
	}
	p.Folded("back from there: umbra fork exit; with what was found out: umbra fork report; with all that was done: umbra promote")
}

// Exit is `umbra fork exit`.
func Exit() *call.Verb {
	preview := false
	return &call.Verb{
		Name: "exit", Args: "[FORK]", Max: 1, Short: "leave a side fork: the mission that was parked for it has its terminal again",
		Long: `Ends the agent of the fork when its turn ends, and launches that of the parked mission
again, which knows nothing of the fork. A last snapshot is taken first, and the fork
stays: umbra mission resume goes on in it, umbra promote brings it home later.`,
		Flags: []flags.Flag{flags.Bool("preview", "say what would happen, change nothing", &preview)},
		Run: func(c *call.Call) error {
			svc, caller, ctx, err := c.Asking()
			if err != nil {
				return err
			}
			done, err := svc.LeaveFork(ctx, missions.LeaveForkRequest{Caller: caller, Fork: c.Arg(0), Preview: preview})
			if err != nil {
				return err
			}
			err = c.TellDone(done, func(p *print.Printer) { wording.SideForkLeft(p, done) })
			if err == nil && done.Resume != "" {
				return call.Partly
			}
			return err
		},
	}
}
