package history

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

type snapshotOptions struct{ message, pin string }

func Snapshot() *call.Verb {
	var o snapshotOptions
	return &call.Verb{
		Prints: []any{missions.Entry{}},
		Name:   "snapshot", Alias: "checkpoint", Args: "[MISSION]", Max: 1,
		Short: "take a snapshot now, of everything written before",
		Flags: []flags.Flag{
			flags.String("m", "say what it is: `TEXT`", &o.message, "message"),
			flags.String("pin", "pin it as `NAME`", &o.pin),
		},
		Run: func(c *call.Call) error { return runSnapshot(c, o) },
	}
}

func runSnapshot(c *call.Call, o snapshotOptions) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	e, err := svc.Snapshot(ctx, missions.SnapshotRequest{Caller: caller, Mission: c.Arg(0), Message: o.message, Pin: o.pin})
	if err != nil {
		return err
	}
	if !c.JSON {
		for _, note := range e.Notes {
			c.Notice("note: %s", note)
		}
	}
	return c.Print(e, func(p *print.Printer) { p.Line("%s", e.ID) })
}
