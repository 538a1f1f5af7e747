package mission

import (
	"slices"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
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
	var of message
	return &call.Verb{
		Prints: []any{missions.Mission{}},
		Name:   "fork", Args: "[MOMENT]", Max: 1, After: "[-- COMMAND…]",
		Short: "fork a mission, files and conversation, into a workspace of its own",
		Long: `Waits until a running source is idle, saying what it waits for, and takes a
snapshot of it; a past moment needs no waiting. Then makes the new mission with
its own ref, workspace and session, and launches the agent in it. The source is
left as it is. It is short for umbra mission new --clone.

With --session and --at it forks from a message: the files of the first snapshot
that has the message, and the conversation up to it. From a prompt, or a call of
a tool, it forks what was there before. A message is named by the id that it has
in its agent's own file; --json makes the fork and launches no agent.`,
		Flags: slices.Concat(o.flags(), o.forkFlags(), of.flags()),
		Verbs: []*call.Verb{restores.Promote(OfferRemoval), forks.Run(), forks.Enter(), forks.Exit(), updates.Report()},
		Run: func(c *call.Call) error {
			o.noLaunch = o.noLaunch || c.JSON && of.session != ""
			if err := o.check(c, true); err != nil {
				return err
			}
			return failing(c, o, runFork(c, o, c.Arg(0), of))
		},
	}
}

// message is one of a conversation, as another program that shows it knows it.
type message struct{ session, id string }

func (m *message) flags() []flags.Flag {
	return []flags.Flag{
		flags.String("session", "fork from a message of an agent's session: its `FILE`, or the session's id", &m.session),
		flags.String("at", "the message's `ID` in that file", &m.id),
	}
}

// command is what was typed.
func (m message) command(from string) string {
	command := "umbra fork"
	if from != "" {
		command += " " + home.ShellQuote(from)
	}
	if m.session != "" {
		command += " --session " + home.ShellQuote(m.session) + " --at " + home.ShellQuote(m.id)
	}
	return command
}

func runFork(c *call.Call, o missionNewOptions, from string, of message) error {
	vars, err := o.vars.Read(c)
	if err != nil {
		return err
	}
	if o.launching() {
		c.Reach = call.Staying
	}
	svc, caller, ctx, err := c.Asking()
	if err == nil {
		err = mayStart(c, o, vars, "", of.command(from))
	}
	if err != nil {
		return err
	}
	r, err := svc.Fork(ctx, missions.ForkRequest{
		Caller: caller, From: from, Session: of.session, Message: of.id, Name: o.name, NameTyped: true, Count: o.count, Workspace: o.workspace, Prompt: o.prompt, Again: o.again,
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
