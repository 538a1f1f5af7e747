package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type undoOptions struct {
	steps    int
	whenIdle bool
	force    bool
}

func undoCommand() *verb {
	var o undoOptions
	return &verb{
		name: "undo", args: "[MISSION]", max: 1, short: "take back the last restore of a mission",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "the last `N`", Value: 1, Destination: &o.steps},
			&cli.BoolFlag{Name: "when-idle", Usage: "at the end of the turn", Destination: &o.whenIdle},
			&cli.BoolFlag{Name: "force", Usage: "also across turns that came after it", Destination: &o.force},
		},
		run: func(c *call) error { return runUndo(c, o) },
	}
}

func runUndo(c *call, o undoOptions) error {
	if o.steps == 0 {
		return missions.Errorf(missions.KindUsage, "-n 1 is the default", "-n 0 takes nothing back")
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	result, err := svc.Undo(ctx, missions.UndoRequest{Caller: caller, Mission: c.arg(0), Steps: o.steps, WhenIdle: o.whenIdle, Force: o.force})
	if err != nil {
		return c.withPlan(err)
	}
	return c.printRestored("undo", result)
}

// withPlan shows the plan that comes with a refusal, which the user is to judge.
func (c *call) withPlan(err error) error {
	if plan, ok := planIn(err); ok && !c.JSON {
		c.progress.end()
		writePlan(c.err, plan)
		_ = c.err.flush()
	}
	return err
}
