package commands

import "github.com/umbra-vcs/umbra/missions"

func pinCommand() *verb {
	return &verb{
		name: "pin", args: "MOMENT NAME", min: 2, max: 2, short: "give a snapshot a name, under which it is kept",
		run: runPin,
	}
}

func runPin(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	pin, err := svc.Pin(ctx, missions.PinRequest{Caller: caller, Moment: c.arg(0), Name: c.arg(1)})
	if err != nil {
		return err
	}
	return tellDone(c, pin, func(p *printer) { p.line("%s is %s (%s)", clean(pin.Name), clean(pin.Address), short(pin.Snapshot)) })
}
