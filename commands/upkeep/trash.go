package upkeep

import (
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func Trash() *call.Verb {
	return &call.Verb{
		Name: "trash", Short: "removed missions, and what went with them",
		Verbs: []*call.Verb{
			{
				Name: "ls", Short: "list what is in the trash", Run: runTrashLs,
				Long: `Where retention.trash is set, it says when what is there goes by itself.`,
			},
			{
				Prints: []any{missions.Mission{}},
				Name:   "restore", Args: "MISSION", Min: 1, Max: 1, Short: "take a removed mission back, with all its snapshots",
				Long: `A workspace that went with it is in its place again as it was, ignored files too. If
something else has that place, nothing is done: move it away first.`,
				Run: runTrashRestore,
			},
			trashEmptyCommand(),
		},
	}
}

type trashEmptyOptions struct {
	olderThan time.Duration
	preview   bool
}

func trashEmptyCommand() *call.Verb {
	var o trashEmptyOptions
	return &call.Verb{
		Name: "empty", Args: "[MISSION…]", Max: call.AnyNumber, Short: "remove for good the workspaces that are in the trash",
		Long: `They hold what was in no snapshot: ignored files above all. It lists all of it and asks.
Snapshots stay, and umbra trash restore brings a mission back all the same. What is left
there of a mission that is back goes only if you name it. umbra config set retention.trash 30d
has Umbra do it by itself, for what is there so long.`,
		Flags: []flags.Flag{
			flags.Duration("older-than", "only what has been there for `DURATION`, such as 720h", &o.olderThan),
			flags.Bool("preview", "only list", &o.preview),
		},
		Run: func(c *call.Call) error { return runTrashEmpty(c, o) },
	}
}

func runTrashLs(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r, err := svc.Trash(ctx, missions.TrashRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.Print(r, func(p *print.Printer) {
		if len(r.Removed) == 0 {
			p.Line("the trash is empty")
			return
		}
		for _, m := range r.Removed {
			describeTrash(p, m)
		}
	})
}

func runTrashRestore(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	m, err := svc.Unremove(ctx, missions.UnremoveRequest{Caller: caller, Mission: c.Arg(0)})
	if err != nil {
		return err
	}
	return c.TellDone(m, func(p *print.Printer) {
		p.Line("%s is back", p.Paint(print.Bold, print.Clean(m.Name)))
		p.Line("  to go on: umbra mission resume %s", print.Clean(m.Name))
	})
}

// runTrashEmpty removes what it has listed, and nothing that came later.
func runTrashEmpty(c *call.Call, o trashEmptyOptions) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	request := missions.TrashRequest{Caller: caller, Missions: c.Arguments, Before: c.Now().Add(-o.olderThan)}
	listed, err := svc.Trash(ctx, request)
	if err != nil {
		return err
	}
	for _, m := range listed.Removed {
		if m.Back && len(m.Items) > 0 && !request.Empties(m) {
			c.Notice("what is left of %s, which is back, stays: umbra trash empty %s removes it", m.Name, print.Short(m.ID))
		}
	}
	listed.Removed = slices.DeleteFunc(listed.Removed, func(m missions.Removed) bool { return !request.Empties(m) })
	listed.Bytes = listed.Size()
	if o.preview || !listed.HasItems() && listed.Unfinished == 0 {
		return c.Print(listed, func(p *print.Printer) { describeEmptying(p, listed, "would be removed") })
	}
	if err := confirmEmptying(c, listed); err != nil {
		return err
	}
	request.Empty = true
	done, err := svc.Trash(ctx, request)
	if err != nil {
		return err
	}
	if err := c.TellDone(done, func(p *print.Printer) { describeEmptying(p, done, "removed") }); err != nil {
		return err
	}
	if len(done.Left) > 0 {
		return call.Partly
	}
	return nil
}

func confirmEmptying(c *call.Call, listed missions.TrashResult) error {
	if c.Yes {
		return nil
	}
	describeEmptying(c.Err, listed, "would be removed for good")
	_ = c.Err.Flush()
	if !c.CanAsk() {
		return missions.Errorf(missions.KindConflict, "--yes removes it", "nobody can be asked: nothing was removed")
	}
	yes, err := c.Confirm("Remove it for good?")
	if err == nil && !yes {
		err = missions.Errorf(missions.KindConflict, "", "nothing was removed")
	}
	return err
}

func describeEmptying(p *print.Printer, r missions.TrashResult, what string) {
	for _, m := range r.Removed {
		if len(m.Items) > 0 {
			describeTrash(p, m)
		}
	}
	for _, left := range r.Left {
		p.Line("%s %s: %s", p.Paint(print.Red, "left:"), print.Clean(left.Path), print.Clean(left.Why))
		if left.Fix != "" {
			p.Line("  to mend it: %s", print.Clean(left.Fix))
		}
	}
	if r.Unfinished > 0 {
		p.Line("what went by itself before, of %s, whose removal was cut off", print.Count(r.Unfinished, "mission"))
	}
	switch {
	case r.Unfinished > 0:
	case !r.HasItems() && len(r.Left) > 0:
		p.Line("nothing was removed")
		return
	case !r.HasItems():
		p.Line("nothing to remove")
		return
	}
	p.Line("%s %s; the snapshots stay", print.Size(r.Bytes), what)
}

func describeTrash(p *print.Printer, m missions.Removed) {
	switch {
	case m.Unknown:
		p.Line("%s  whose it is can't be told: umbra trash empty %s removes it", print.Short(m.ID), print.Clean(m.ID))
	case m.Back:
		p.Line("%s  %s  left of %s in %s, which is back: copy what you want, umbra trash empty %s removes it",
			p.Paint(print.Bold, print.Clean(m.Name)), print.Short(m.ID), print.Clean(m.Name), print.Clean(m.Project), print.Short(m.ID))
	case m.Name == "":
		p.Line("%s  left of a fork that could not be made, or of a workspace that was lost", print.Short(m.ID))
	default:
		p.Line("%s  %s  of %s: umbra trash restore %s", p.Paint(print.Bold, print.Clean(m.Name)), print.Short(m.ID), print.Clean(m.Project), print.Short(m.ID))
	}
	for _, item := range m.Items {
		bytes := print.Size(item.Bytes)
		if item.Incomplete {
			bytes += " or more"
		}
		p.Line("  %s  %s  %s", bytes, p.When(item.At), print.Clean(item.Path))
	}
	if !m.GoesAt.IsZero() {
		p.Line("  goes for good by itself from %s on, as retention.trash says", m.GoesAt.Format(time.DateOnly))
	}
}
