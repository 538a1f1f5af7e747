package commands

import "github.com/umbra-vcs/umbra/missions"

func unpinCommand() *verb {
	return &verb{
		name: "unpin", args: "PIN", min: 1, max: 1, short: "take a pin away; its snapshot stays in its mission",
		run: runUnpin,
	}
}

func runUnpin(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	pin, err := svc.Unpin(ctx, missions.PinRequest{Caller: caller, Name: c.arg(0)})
	if err != nil {
		return err
	}
	return tellDone(c, pin, func(p *printer) { p.line("%s no longer pins %s", clean(pin.Name), short(pin.Snapshot)) })
}
