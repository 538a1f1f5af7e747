package commands

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
)

type diffOptions struct {
	turn                         int
	stat, nameStatus, conversing bool
}

func diffCommand() *verb {
	var o diffOptions
	return &verb{
		name: "diff", args: "[FROM] [TO]", max: 2, after: "[-- PATH…]",
		short: "compare moments with each other or with now",
		long:  "Without moments: from the last prompt to now. One: from that moment to now. Two: from one to the other.",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "turn", Usage: "what turn `N` changed", Destination: &o.turn},
			&cli.BoolFlag{Name: "stat", Usage: "count the lines of each file", Destination: &o.stat},
			&cli.BoolFlag{Name: "name-status", Usage: "names and kinds of change only", Destination: &o.nameStatus},
			&cli.BoolFlag{Name: "conversation", Usage: "what was said in between, too", Destination: &o.conversing},
		},
		run: func(c *call) error { return runDiff(c, o) },
	}
}

func runDiff(c *call, o diffOptions) error {
	if o.stat && o.nameStatus {
		return missions.Errorf(missions.KindUsage, "choose one", "--stat and --name-status contradict each other")
	}
	if o.turn > 0 && len(c.args) > 1 {
		return missions.Errorf(missions.KindUsage, "umbra diff --turn N [MISSION]", "--turn compares the turn's own ends")
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	d, err := svc.Diff(ctx, missions.DiffRequest{
		Caller: caller, From: c.arg(0), To: c.arg(1), Turn: o.turn, Conversation: o.conversing,
		Patch: !o.stat && !o.nameStatus && !c.JSON, Paths: c.after,
	})
	if err != nil {
		return err
	}
	if c.JSON {
		d.Files = listed(d.Files)
		return c.printJSON(d)
	}
	return c.paged(func(p *printer) { writeDifference(p, d, o) })
}

func writeDifference(p *printer, d missions.Difference, o diffOptions) {
	switch {
	case o.stat:
		writeStat(p, d.Files)
	case o.nameStatus:
		writeNames(p, d.Files)
	default:
		writePatch(p, d.Patch)
	}
	if o.conversing {
		p.line("%s in between", count(d.Conversation.EventsAdded, "event"))
		writeConversation(p, d.Conversation.Said)
	}
}

// letter is a change as Git abbreviates it.
func letter(f missions.FileChange) string {
	switch f.Type {
	case "added":
		return "A"
	case "deleted":
		return "D"
	case "renamed":
		return "R"
	case "type":
		return "T"
	}
	return "M"
}

func writeNames(p *printer, files []missions.FileChange) {
	for _, f := range files {
		name := quotePath(f.Path)
		if f.OldPath != "" && f.OldPath != f.Path {
			name = quotePath(f.OldPath) + "\t" + name
		}
		p.line("%s\t%s", letter(f), name)
	}
}

func writeStat(p *printer, files []missions.FileChange) {
	var t table
	added, deleted := 0, 0
	for _, f := range files {
		what := fmt.Sprintf("+%d −%d", f.Added, f.Deleted)
		switch {
		case f.Binary:
			what = "binary"
		case f.Type == "mode":
			what = "mode"
		}
		t.row(cell{letter(f), plain}, cell{quotePath(f.Path), plain}, cell{what, plain})
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	t.print(p, " ")
	p.line(" %s, +%d −%d", count(len(files), "file"), added, deleted)
}
