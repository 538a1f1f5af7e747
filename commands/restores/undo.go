package restores

import (
	"context"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
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
func (o *undoOptions) flags() []flags.Flag {
	o.steps = 1
	return []flags.Flag{
		flags.Int("n", "the last `N`", &o.steps),
		flags.Bool("preview", "print the plan, change nothing", &o.preview),
		flags.Bool("when-idle", "at the end of the turn", &o.whenIdle),
		flags.Bool("force", "also across turns that came after it", &o.force),
	}
}

// Undo is the verb undo.
func Undo() *call.Verb {
	var o undoOptions
	return &call.Verb{
		Prints: []any{missions.RestoreResult{}, missions.Canceled{}},
		Name:   "undo", Args: "[MISSION]", Max: 1, Short: "take back the last restore of a mission",
		Long: `What waits for the end of the agent's turn (restore, undo or redo --when-idle) is
not undone, but can be canceled: --queued.`,
		Flags: append(o.flags(), flags.Bool("queued", "cancel what waits for the end of the turn", &o.queued)),
		Run:   func(c *call.Call) error { return runUndo(c, o, "undo", missions.Service.Undo) },
	}
}

// Redo is the verb redo.
func Redo() *call.Verb {
	var o undoOptions
	return &call.Verb{
		Prints: []any{missions.RestoreResult{}},
		Name:   "redo", Args: "[MISSION]", Max: 1, Short: "do again what undo took back",
		Flags: o.flags(),
		Run:   func(c *call.Call) error { return runUndo(c, o, "redo", missions.Service.Redo) },
	}
}

// runUndo takes steps back, or does them again.
func runUndo(c *call.Call, o undoOptions, verb string, do func(missions.Service, context.Context, missions.UndoRequest) (missions.RestoreResult, error)) error {
	if err := o.check(); err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	if o.queued {
		return runCancel(ctx, c, svc, missions.CancelRequest{Caller: caller, Mission: c.Arg(0)})
	}
	result, err := do(svc, ctx, missions.UndoRequest{Caller: caller, Mission: c.Arg(0), Steps: o.steps, Preview: o.preview, WhenIdle: o.whenIdle, Force: o.force})
	if err != nil {
		return withPlan(c, err)
	}
	return printRestored(c, verb, result, false)
}

func runCancel(ctx context.Context, c *call.Call, svc missions.Restores, r missions.CancelRequest) error {
	canceled, err := svc.Cancel(ctx, r)
	if err != nil {
		return err
	}
	return c.TellDone(canceled, func(p *print.Printer) {
		p.Line("canceled: the %s that was to happen when the turn of %s ends", canceled.Action, canceled.Name)
	})
}

// withPlan shows the plan that comes with a refusal, which the user is to judge.
func withPlan(c *call.Call, err error) error {
	if plan, ok := planIn(err); ok && !c.JSON {
		c.EndProgress()
		writePlan(c.Err, plan, false)
		_ = c.Err.Flush()
	}
	return err
}
