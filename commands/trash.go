package commands

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

func trashCommand() *verb {
	return &verb{
		name: "trash", short: "removed missions, and what went with them",
		verbs: []*verb{
			{name: "ls", short: "list what is in the trash", run: runTrashLs},
			{
				name: "restore", args: "MISSION", min: 1, max: 1, short: "take a removed mission back, with all its snapshots",
				long: "A workspace that went with it is in its place again as it was, ignored files too. If\nsomething else has that place, nothing is done: move it away first.",
				run:  runTrashRestore,
			},
			trashEmptyCommand(),
		},
	}
}

type trashEmptyOptions struct {
	olderThan time.Duration
	preview   bool
}

func trashEmptyCommand() *verb {
	var o trashEmptyOptions
	return &verb{
		name: "empty", args: "[MISSION…]", max: anyNumber, short: "remove for good the workspaces that are in the trash",
		long: `They hold what was in no snapshot: ignored files above all. It lists all of it and asks.
Snapshots stay, and umbra trash restore brings a mission back all the same. What is left
there of a mission that is back goes only if you name it.`,
		flags: []cli.Flag{
			&cli.DurationFlag{Name: "older-than", Usage: "only what has been there for `DURATION`, such as 720h", Destination: &o.olderThan},
			&cli.BoolFlag{Name: "preview", Usage: "only list", Destination: &o.preview},
		},
		run: func(c *call) error { return runTrashEmpty(c, o) },
	}
}

func runTrashLs(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	r, err := svc.Trash(ctx, missions.TrashRequest{Caller: caller})
	if err != nil {
		return err
	}
	return c.print(r, func(p *printer) {
		if len(r.Removed) == 0 {
			p.line("the trash is empty")
			return
		}
		for _, m := range r.Removed {
			describeTrash(p, m)
		}
	})
}

func runTrashRestore(c *call) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	m, err := svc.Unremove(ctx, missions.UnremoveRequest{Caller: caller, Mission: c.arg(0)})
	if err != nil {
		return err
	}
	return tellDone(c, m, func(p *printer) {
		p.line("%s is back", p.paint(bold, clean(m.Name)))
		p.line("  to go on: umbra mission resume %s", clean(m.Name))
	})
}

// runTrashEmpty removes what it has listed, and nothing that came later.
func runTrashEmpty(c *call, o trashEmptyOptions) error {
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	request := missions.TrashRequest{Caller: caller, Missions: c.args, Before: c.Now().Add(-o.olderThan)}
	listed, err := svc.Trash(ctx, request)
	if err != nil {
		return err
	}
	for _, m := range listed.Removed {
		if m.Back && len(m.Items) > 0 && !request.Empties(m) {
			c.notice("what is left of %s, which is back, stays: umbra trash empty %s removes it", m.Name, short(m.ID))
		}
	}
	listed.Removed = slices.DeleteFunc(listed.Removed, func(m missions.Removed) bool { return !request.Empties(m) })
	listed.Bytes = listed.Size()
	if o.preview || !listed.HasItems() {
		return c.print(listed, func(p *printer) { describeEmptying(p, listed, "would be removed") })
	}
	if err := c.confirmEmptying(listed); err != nil {
		return err
	}
	request.Empty = true
	done, err := svc.Trash(ctx, request)
	if err != nil {
		return err
	}
	if err := tellDone(c, done, func(p *printer) { describeEmptying(p, done, "removed") }); err != nil {
		return err
	}
	if len(done.Left) > 0 {
		return partly
	}
	return nil
}

func (c *call) confirmEmptying(listed missions.TrashResult) error {
	if c.Yes {
		return nil
	}
	describeEmptying(c.err, listed, "would be removed for good")
	_ = c.err.flush()
	if !c.canAsk() {
		return missions.Errorf(missions.KindConflict, "--yes removes it", "nobody can be asked: nothing was removed")
	}
	yes, err := c.confirm("Remove it for good?")
	if err == nil && !yes {
		err = missions.Errorf(missions.KindConflict, "", "nothing was removed")
	}
	return err
}

func describeEmptying(p *printer, r missions.TrashResult, what string) {
	for _, m := range r.Removed {
		if len(m.Items) > 0 {
			describeTrash(p, m)
		}
	}
	for _, left := range r.Left {
		p.line("%s %s: %s", p.paint(red, "left:"), clean(left.Path), clean(left.Why))
		if left.Fix != "" {
			p.line("  to mend it: %s", clean(left.Fix))
		}
	}
	switch {
	case !r.HasItems() && len(r.Left) > 0:
		p.line("nothing was removed")
		return
	case !r.HasItems():
		p.line("nothing to remove")
		return
	}
	p.line("%s %s; the snapshots stay", size(r.Bytes), what)
}

func describeTrash(p *printer, m missions.Removed) {
	switch {
	case m.Unknown:
		p.line("%s  whose it is can't be told: umbra trash empty %s removes it", short(m.ID), clean(m.ID))
	case m.Back:
		p.line("%s  %s  left of %s in %s, which is back: copy what you want, umbra trash empty %s removes it", p.paint(bold, clean(m.Name)), short(m.ID), clean(m.Name), clean(m.Project), short(m.ID))
	case m.Name == "":
		p.line("%s  left of a fork that could not be made, or of a workspace that was lost", short(m.ID))
	default:
		p.line("%s  %s  of %s: umbra trash restore %s", p.paint(bold, clean(m.Name)), short(m.ID), clean(m.Project), short(m.ID))
	}
	for _, item := range m.Items {
		bytes := size(item.Bytes)
		if item.Incomplete {
			bytes += " or more"
		}
		p.line("  %s  %s  %s", bytes, p.when(item.At), clean(item.Path))
	}
}
