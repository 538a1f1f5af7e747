package updates

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Updates is the verb updates.
func Updates() *call.Verb {
	var all, clear bool
	return &call.Verb{
		Name: "updates", Args: "[MISSION]", Max: 1, Short: "what a mission's agent is still to be told by its forks",
		Long: `An update waits until the conversation of the mission's agent shows it: then it was
delivered. A restore to before that has it wait again, since the agent no longer knows
it; an undo of the restore has not.`,
		Flags: []flags.Flag{
			flags.Bool("all", "those that were delivered or cleared, too", &all),
			flags.Bool("clear", "take those that wait out of the queue: its agent is not told them", &clear),
		},
		Run: func(c *call.Call) error { return runUpdates(c, all, clear) },
	}
}

func runUpdates(c *call.Call, all, clear bool) error {
	if all && clear {
		return missions.Errorf(missions.KindUsage, "choose one", "--all and --clear contradict each other")
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	ask, r := svc.Updates, missions.UpdatesRequest{Caller: caller, Mission: c.Arg(0), All: all}
	if clear {
		ask = svc.ClearUpdates
	}
	list, err := ask(ctx, r)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		c.Notice("%s", nothing(all))
	}
	return c.Print(call.Listed(list), func(p *print.Printer) {
		for _, u := range list {
			writeUpdate(p, u)
		}
	})
}

func nothing(all bool) string {
	if all {
		return "no update was ever queued"
	}
	return "no update waits; --all lists those that were delivered or cleared"
}

func writeUpdate(p *print.Printer, u missions.Update) {
	state := print.Yellow
	how := "waits"
	switch {
	case !u.ClearedAt.IsZero():
		state, how = print.Dim, "cleared "+p.When(u.ClearedAt)
	case u.Own:
		state, how = print.Green, "promoted "+p.When(u.DeliveredAt)
	case !u.DeliveredAt.IsZero():
		state, how = print.Green, "delivered "+p.When(u.DeliveredAt)
	}
	p.Line("%s  %s  %s  %s", p.Paint(print.Bold, print.Clean(u.From)), string(u.Kind), p.When(u.At), p.Paint(state, how))
	if u.Topic != "" {
		p.Folded("  about: " + print.Clean(u.Topic))
	}
	if u.Peeked {
		p.Folded("  for the mission that " + print.Clean(u.Mission) + " was forked from, which is told it too")
	}
	if u.Own {
		p.Folded("  the agent of " + print.Clean(u.Mission) + " has said this itself: " + print.Clean(u.From) + " was promoted")
	}
	writeText(p, u.Text, 0)
}
