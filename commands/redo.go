package commands

import "github.com/urfave/cli/v2"

func redoCommand() *verb {
	var o undoOptions
	return &verb{
		name: "redo", args: "[MISSION]", max: 1, short: "do again what undo took back",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "the last `N`", Value: 1, Destination: &o.steps},
			o.previewFlag(),
			&cli.BoolFlag{Name: "when-idle", Usage: "at the end of the turn", Destination: &o.whenIdle},
			&cli.BoolFlag{Name: "force", Usage: "also across turns that came after it", Destination: &o.force},
		},
		run: func(c *call) error { return runRedo(c, o) },
	}
}

func runRedo(c *call, o undoOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	result, err := svc.Redo(ctx, o.request(caller, c.arg(0)))
	if err != nil {
		return c.withPlan(err)
	}
	return c.printRestored("redo", result)
}
