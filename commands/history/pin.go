package history

import (
	"cmp"
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func Pin() *call.Verb {
	return &call.Verb{
		Prints: []any{missions.Pin{}},
		Name:   "pin", Args: "MOMENT NAME", Min: 2, Max: 2, Short: "give a snapshot a name, under which it is kept",
		Run: func(c *call.Call) error {
			return changePin(c, missions.Service.Pin, missions.PinRequest{Moment: c.Arg(0), Name: c.Arg(1)}, pinned)
		},
	}
}

func Unpin() *call.Verb {
	return &call.Verb{
		Prints: []any{missions.Pin{}},
		Name:   "unpin", Args: "PIN", Min: 1, Max: 1, Short: "take a pin away; its snapshot stays in its mission",
		Run: func(c *call.Call) error {
			return changePin(c, missions.Service.Unpin, missions.PinRequest{Name: c.Arg(0)}, unpinned)
		},
	}
}

func pinned(pin missions.Pin) string {
	return fmt.Sprintf("%s is %s (%s)", print.Clean(pin.Name), print.Clean(pin.Address), print.Short(pin.Snapshot))
}

func unpinned(pin missions.Pin) string {
	return fmt.Sprintf("%s no longer pins %s", print.Clean(pin.Name), print.Clean(cmp.Or(pin.Address, print.Short(pin.Snapshot))))
}

// changePin is Service.Pin or Unpin, and what it says when it is done.
func changePin(
	c *call.Call, do func(missions.Service, context.Context, missions.PinRequest) (missions.Pin, error),
	r missions.PinRequest, done func(missions.Pin) string,
) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r.Caller = caller
	pin, err := do(svc, ctx, r)
	if err != nil {
		return err
	}
	return c.TellDone(pin, func(p *print.Printer) { p.Line("%s", done(pin)) })
}

func Pins() *call.Verb {
	return &call.Verb{Name: "pins", Short: "list the pins of this project", Run: runPins}
}

func runPins(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	list, err := svc.Pins(ctx, missions.PinsRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.Print(call.Listed(list), func(p *print.Printer) {
		var t print.Table
		for _, pin := range list {
			t.Row(print.Bold.Cell(print.Clean(pin.Name)), print.Yellow.Cell(print.Short(pin.Snapshot)), print.Cyan.Cell(print.Clean(pin.Address)),
				print.Dim.Cell(p.When(pin.At)), print.Plain.Cell(print.Clean(pin.Message)))
		}
		t.Print(p, "")
	})
}
