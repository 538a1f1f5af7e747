package mission

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/commands/keeper"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/restores"
	"github.com/umbra-vcs/umbra/commands/updates"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

func Fork() *call.Verb {
	var o missionNewOptions
	return &call.Verb{
		Prints: []any{missions.Mission{}},
		Name:   "fork", Args: "[MOMENT]", Max: 1, After: "[-- COMMAND…]",
		Short: "fork a mission, files and conversation, into a workspace of its own",
		Long: `Waits until a running source is idle, saying what it waits for, and takes a
snapshot of it; a past moment needs no waiting. Then makes the new mission with
its own ref, workspace and session, and launches the agent in it. The source is
left as it is. It is short for umbra mission new --clone.`,
		Flags: append(o.flags(), o.forkFlags()...),
		Verbs: []*call.Verb{restores.Promote(OfferRemoval), forks.Run(), forks.Enter(), forks.Exit(), updates.Report()},
		Run: func(c *call.Call) error {
			if err := o.check(c, true); err != nil {
				return err
			}
			return failing(c, o, runFork(c, o, c.Arg(0)))
		},
	}
}

func runFork(c *call.Call, o missionNewOptions, from string) error {
	vars, err := o.vars.Read(c)
	if err != nil {
		return err
	}
	if o.launching() {
		c.Reach = call.Staying
	}
	svc, caller, ctx, err := c.Asking()
	if err == nil {
		again := "umbra fork"
		if from != "" {
			again += " " + home.ShellQuote(from)
		}
		err = mayStart(c, o, vars, "", again)
	}
	if err != nil {
		return err
	}
	r, err := svc.Fork(ctx, missions.ForkRequest{
		Caller: caller, From: from, Name: o.name, NameTyped: true, Count: o.count, Workspace: o.workspace, Prompt: o.prompt, Again: o.again,
		Command: c.After, EnvNames: vars.Names(), Ignored: o.ignored, Config: o.config, NoWait: o.noWait, Timeout: o.wait,
		Launching: o.launching(), Yes: c.Yes, Force: o.force,
	})
	if err != nil {
		return err
	}
	forks.TellForked(c, r)
	if o.launching() {
		m := r.Missions[0]
		keeper.Announce(c, m)
		return keeper.Keep(c, missions.LaunchRequest{Caller: caller, Mission: m.ID, Prompt: o.prompt, EnvNames: vars.Names()}, vars)
	}
	if err := printForks(c, o, r); err != nil {
		return err
	}
	opened := false
	if o.count > 0 && !o.noLaunch {
		if opened, err = forks.Open(c, r.Missions); err != nil {
			return err
		}
	}
	if !opened {
		sayLaunch(c, r.Missions...)
	}
	if len(r.LeftOut) > 0 {
		return call.Partly
	}
	return nil
}

// sayLaunch says how to launch the agent of forks that were only made.
func sayLaunch(c *call.Call, list ...missions.Mission) {
	what := "its agent"
	if len(list) > 1 {
		what = "the first of them"
	}
	c.Notice("to launch %s: umbra mission resume %s", what, list[0].Name)
}

func printForks(c *call.Call, o missionNewOptions, r missions.ForkResult) error {
	if c.JSON && o.count == 0 {
		return c.PrintJSON(r.Missions[0])
	}
	return c.Print(r.Missions, func(p *print.Printer) {
		for _, m := range r.Missions {
			p.Line("%s", print.Clean(keeper.Identity(m)))
		}
	})
}
