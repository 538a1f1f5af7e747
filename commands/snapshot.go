package commands

import (
	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type snapshotOptions struct{ message, pin string }

func snapshotCommand() *verb {
	var o snapshotOptions
	return &verb{
		name: "snapshot", alias: "checkpoint", args: "[MISSION]", max: 1,
		short: "take a snapshot now, of everything written before",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "m", Aliases: []string{"message"}, Usage: "say what it is: `TEXT`", Destination: &o.message},
			&cli.StringFlag{Name: "pin", Usage: "pin it as `NAME`", Destination: &o.pin},
		},
		run: func(c *call) error { return runSnapshot(c, o) },
	}
}

func runSnapshot(c *call, o snapshotOptions) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	e, err := svc.Snapshot(ctx, missions.SnapshotRequest{Caller: caller, Mission: c.arg(0), Message: o.message, Pin: o.pin})
	if err != nil {
		return err
	}
	if !c.JSON {
		for _, note := range e.Notes {
			c.notice("note: %s", note)
		}
	}
	return c.print(e, func(p *printer) { p.line("%s", e.ID) })
}
