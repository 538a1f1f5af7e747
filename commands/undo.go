package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type undoOptions struct {
	steps                    int
	preview, whenIdle, force bool
}

// check refuses what makes no sense; none is what no step at all does.
func (o undoOptions) check(none string) error {
	switch {
	case o.preview && o.whenIdle:
		return missions.Errorf(missions.KindUsage, "choose one", "--preview and --when-idle contradict each other")
	case o.steps == 0:
		return missions.Errorf(missions.KindUsage, "-n 1 is the default", "-n 0 %s", none)
	}
	return nil
}

func (o undoOptions) request(caller missions.Caller, mission string) missions.UndoRequest {
	return missions.UndoRequest{Caller: caller, Mission: mission, Steps: o.steps, Preview: o.preview, WhenIdle: o.whenIdle, Force: o.force}
}

// previewFlag is the flag that plans and does nothing.
func (o *undoOptions) previewFlag() cli.Flag {
	return &cli.BoolFlag{Name: "preview", Usage: "print the plan, change nothing", Destination: &o.preview}
}

func undoCommand() *verb {
	var o undoOptions
	return &verb{
		name: "undo", args: "[MISSION]", max: 1, short: "take back the last restore of a mission",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "the last `N`", Value: 1, Destination: &o.steps},
			o.previewFlag(),
			&cli.BoolFlag{Name: "when-idle", Usage: "at the end of the turn", Destination: &o.whenIdle},
			&cli.BoolFlag{Name: "force", Usage: "also across turns that came after it", Destination: &o.force},
		},
		run: func(c *call) error { return runUndo(c, o) },
	}
}

func runUndo(c *call, o undoOptions) error {
	if err := o.check("takes nothing back"); err != nil {
		return err
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	result, err := svc.Undo(ctx, o.request(caller, c.arg(0)))
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
