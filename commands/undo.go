package commands

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type undoOptions struct {
	steps                    int
	preview, whenIdle, force bool
	queued                   bool
}

// check refuses what makes no sense.
func (o undoOptions) check() error {
	switch {
	case o.preview && o.whenIdle:
		return missions.Errorf(missions.KindUsage, "choose one", "--preview and --when-idle contradict each other")
	case o.queued && (o.steps != 1 || o.preview || o.whenIdle || o.force):
		return missions.Errorf(missions.KindUsage, "leave the other flags out", "--queued takes back what was not done yet: it goes with no other flag")
	}
	return nil
}

// flags are those that undo and redo share.
func (o *undoOptions) flags() []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "n", Usage: "the last `N`", Value: 1, Destination: &o.steps},
		&cli.BoolFlag{Name: "preview", Usage: "print the plan, change nothing", Destination: &o.preview},
		&cli.BoolFlag{Name: "when-idle", Usage: "at the end of the turn", Destination: &o.whenIdle},
		&cli.BoolFlag{Name: "force", Usage: "also across turns that came after it", Destination: &o.force},
	}
}

func undoCommand() *verb {
	var o undoOptions
	return &verb{
		name: "undo", args: "[MISSION]", max: 1, short: "take back the last restore of a mission",
		long: `What waits for the end of the agent's turn (restore, undo or redo --when-idle) is
not undone, but can be canceled: --queued.`,
		flags: append(o.flags(), &cli.BoolFlag{Name: "queued", Usage: "cancel what waits for the end of the turn", Destination: &o.queued}),
		run:   func(c *call) error { return runUndo(c, o, "undo", missions.Service.Undo) },
	}
}

func redoCommand() *verb {
	var o undoOptions
	return &verb{
		name: "redo", args: "[MISSION]", max: 1, short: "do again what undo took back",
		flags: o.flags(),
		run:   func(c *call) error { return runUndo(c, o, "redo", missions.Service.Redo) },
	}
}

// runUndo takes steps back, or does them again.
func runUndo(c *call, o undoOptions, verb string, do func(missions.Service, context.Context, missions.UndoRequest) (missions.RestoreResult, error)) error {
	if err := o.check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	if o.queued {
		return runCancel(ctx, c, svc, missions.CancelRequest{Caller: caller, Mission: c.arg(0)})
	}
	result, err := do(svc, ctx, missions.UndoRequest{Caller: caller, Mission: c.arg(0), Steps: o.steps, Preview: o.preview, WhenIdle: o.whenIdle, Force: o.force})
	if err != nil {
		return c.withPlan(err)
	}
	return c.printRestored(verb, result)
}

func runCancel(ctx context.Context, c *call, svc missions.Restores, r missions.CancelRequest) error {
	canceled, err := svc.Cancel(ctx, r)
	if err != nil {
		return err
	}
	return tellDone(c, canceled, func(p *printer) {
		p.line("canceled: the %s that was to happen when the turn of %s ends", canceled.Action, canceled.Name)
	})
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
