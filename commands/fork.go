package commands

import (
	"github.com/umbra-vcs/umbra/missions"
)

func forkCommand() *verb {
	var o missionNewOptions
	return &verb{
		name: "fork", args: "[MOMENT]", max: 1, after: "[-- COMMAND…]",
		short: "fork a mission, files and conversation, into a workspace of its own",
		long: `Waits until a running source is idle, saying what it waits for, and takes a
snapshot of it; a past moment needs no waiting. Then makes the new mission with
its own ref, workspace and session, and launches the agent in it. The source is
left as it is. It is short for umbra mission new --clone.`,
		flags: append(o.flags(), o.forkFlags()...),
		run: func(c *call) error {
			if err := o.check(c, true); err != nil {
				return err
			}
			return c.failing(o, runFork(c, o, c.arg(0)))
		},
	}
}

func runFork(c *call, o missionNewOptions, from string) error {
	vars, err := o.vars.read(c)
	if err != nil {
		return err
	}
	if o.launching() {
		c.reach = staying
	}
	svc, caller, ctx, err := c.asking()
	if err == nil {
		err = c.mayStart(o, vars, "")
	}
	if err != nil {
		return err
	}
	r, err := svc.Fork(ctx, missions.ForkRequest{
		Caller: caller, From: from, Name: o.name, Count: o.count, Workspace: o.workspace, Prompt: o.prompt, Again: o.again,
		Command: c.after, EnvNames: vars.names(), Ignored: o.ignored, Config: o.config, NoWait: o.noWait, Timeout: o.wait,
		Launching: o.launching(), Yes: c.Yes, Force: o.force,
	})
	if err != nil {
		return err
	}
	c.tellFork(r)
	if o.launching() {
		m := r.Missions[0]
		c.announce(m)
		return c.keep(missions.LaunchRequest{Caller: caller, Mission: m.ID, Prompt: o.prompt, EnvNames: vars.names()}, vars)
	}
	if err := c.printForks(o, r); err != nil {
		return err
	}
	opened := false
	if o.count > 0 && !o.noLaunch {
		if opened, err = c.open(r.Missions); err != nil {
			return err
		}
	}
	if !opened {
		c.sayLaunch(r.Missions...)
	}
	if len(r.LeftOut) > 0 {
		return partly
	}
	return nil
}

// sayLaunch says how to launch the agent of forks that were only made.
func (c *call) sayLaunch(list ...missions.Mission) {
	what := "its agent"
	if len(list) > 1 {
		what = "the first of them"
	}
	c.notice("to launch %s: umbra mission resume %s", what, list[0].Name)
}

func (c *call) printForks(o missionNewOptions, r missions.ForkResult) error {
	if c.JSON && o.count == 0 {
		return c.printJSON(r.Missions[0])
	}
	return c.print(r.Missions, func(p *printer) {
		for _, m := range r.Missions {
			p.line("%s", clean(identity(m)))
		}
	})
}

// tellFork says what the forks begin from, and what could not come along.
func (c *call) tellFork(r missions.ForkResult) {
	if c.Quiet {
		return
	}
	c.progress.end()
	writeForked(c.err, r)
	_ = c.err.flush() // nobody is left to tell
}

func writeForked(p *printer, r missions.ForkResult) {
	p.line("forked from %s (%s)", clean(r.Source.Address), short(r.Source.ID))
	for _, m := range r.Missions {
		p.line("  %s in %s", clean(m.Name), clean(m.Workspace))
	}
	writeKept(p, "did not come along", r.LeftOut)
	const most = 10
	for i, path := range r.PointsIn {
		switch {
		case i == 0:
			p.line("these ignored files point back into the source:")
			fallthrough
		case i < most:
			p.line("  %s", quotePath(path))
		case i == most:
			p.line("  … and %d more", len(r.PointsIn)-most)
		}
	}
	for _, note := range r.Notes {
		p.line("note: %s", clean(note))
	}
}
