package commands

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
)

func pinCommand() *verb {
	return &verb{
		name: "pin", args: "MOMENT NAME", min: 2, max: 2, short: "give a snapshot a name, under which it is kept",
		run: func(c *call) error {
			return changePin(c, missions.Service.Pin, missions.PinRequest{Moment: c.arg(0), Name: c.arg(1)}, pinned)
		},
	}
}

func unpinCommand() *verb {
	return &verb{
		name: "unpin", args: "PIN", min: 1, max: 1, short: "take a pin away; its snapshot stays in its mission",
		run: func(c *call) error {
			return changePin(c, missions.Service.Unpin, missions.PinRequest{Name: c.arg(0)}, unpinned)
		},
	}
}

func pinned(pin missions.Pin) string {
	return fmt.Sprintf("%s is %s (%s)", clean(pin.Name), clean(pin.Address), short(pin.Snapshot))
}

func unpinned(pin missions.Pin) string {
	return fmt.Sprintf("%s no longer pins %s", clean(pin.Name), short(pin.Snapshot))
}

// changePin is Service.Pin or Unpin, and what it says when it is done.
func changePin(
	c *call, do func(missions.Service, context.Context, missions.PinRequest) (missions.Pin, error),
	r missions.PinRequest, done func(missions.Pin) string,
) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	r.Caller = caller
	pin, err := do(svc, ctx, r)
	if err != nil {
		return err
	}
	return tellDone(c, pin, func(p *printer) { p.line("%s", done(pin)) })
}

func pinsCommand() *verb {
	return &verb{name: "pins", short: "list the pins of this project", run: runPins}
}

func runPins(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	list, err := svc.Pins(ctx, missions.PinsRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.print(listed(list), func(p *printer) {
		var t table
		for _, pin := range list {
			t.row(cell{clean(pin.Name), bold}, cell{short(pin.Snapshot), yellow}, cell{clean(pin.Address), cyan},
				cell{p.when(pin.At), dim}, cell{clean(pin.Message), plain})
		}
		t.print(p, "")
	})
}
