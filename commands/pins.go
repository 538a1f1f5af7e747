package commands

import "github.com/umbra-vcs/umbra/missions"

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
