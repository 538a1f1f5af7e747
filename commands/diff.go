package commands

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

type diffOptions struct {
	turn       int
	conversing bool
	changes    changeOptions
}

func diffCommand() *verb {
	var o diffOptions
	return &verb{
		name: "diff", args: "[FROM] [TO]", max: 2, after: "[-- PATH…]",
		short: "compare moments with each other or with now",
		long: `Without moments: from the last prompt to now. One: from that moment to now. Two: from
one to the other, which may be written FROM..TO.`,
		flags: append([]cli.Flag{
			&cli.IntFlag{Name: "turn", Usage: "what turn `N` changed", Destination: &o.turn},
			&cli.BoolFlag{Name: "conversation", Usage: "what was said in between, too", Destination: &o.conversing},
		}, o.changes.flags()...),
		run: func(c *call) error { return runDiff(c, o) },
	}
}

func runDiff(c *call, o diffOptions) error {
	if err := o.changes.check(); err != nil {
		return err
	}
	if o.turn > 0 && len(c.args) > 1 {
		return missions.Errorf(missions.KindUsage, "umbra diff --turn N [MISSION]", "--turn compares the turn's own ends")
	}
	from, to, err := diffEnds(c.args)
	if err != nil {
		return err
	}
	svc, caller, ctx, err := c.asking()
	if err != nil {
		return err
	}
	if !c.JSON {
		o.changes = o.changes.orLines()
	}
	d, err := svc.Diff(ctx, missions.DiffRequest{
		Caller: caller, From: from, To: to, Turn: o.turn, Conversation: o.conversing,
		Patch: o.changes.lines(), Paths: c.after,
	})
	if err != nil {
		return pathMeant(err, c)
	}
	if c.JSON {
		d.Files = listed(d.Files)
		return c.printJSON(d)
	}
	err = c.paged("diff", func(p *printer) { writeDifference(p, d, o) })
	c.sayUnpaired(d.Unpaired)
	if !c.Quiet {
		writeKept(c.err, "differ too, and can't be shown", d.LeftOut)
		_ = c.err.flush()
	}
	return err
}

// diffEnds are the moments that are named: FROM..TO is both, FROM.. goes to now.
func diffEnds(args []string) (from, to string, err error) {
	args = append(args[:len(args):len(args)], "", "")
	from, to = args[0], args[1]
	a, b, ok := strings.Cut(from, "..")
	if !ok {
		return from, to, nil
	}
	if a == "" || to != "" || strings.Contains(b, "..") || strings.HasPrefix(b, ".") {
		return "", "", missions.Errorf(missions.KindUsage, "umbra diff FROM..TO", "%q names no two moments", strings.Join(args[:len(args)-2], " "))
	}
	return a, b, nil
}

// pathMeant adds to an error that no moment is called so what may have been meant.
func pathMeant(err error, c *call) error {
	e := missions.AsError(err)
	if e.Kind != missions.KindNotFound {
		return err
	}
	for i, arg := range c.args {
		if _, serr := os.Lstat(arg); serr == nil && strings.Contains(e.Message, strconv.Quote(arg)) {
			words := slices.Concat([]string{"umbra", "diff"}, c.args[:i], []string{"--"}, c.args[i:], c.after)
			return missions.Errorf(e.Kind, "a path comes after --: "+home.ShellCommand(words), "%w", err)
		}
	}
	return err
}

func writeDifference(p *printer, d missions.Difference, o diffOptions) {
	o.changes.write(p, d.From, d.Files, d.Patch)
	if o.conversing {
		p.line("%s in between", count(d.Conversation.EventsAdded, "event"))
		writeConversation(p, d.Conversation.Lines)
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

// writeStat counts the lines of each file and, below them, of all.
func writeStat(p *printer, files []missions.FileChange) {
	writeCounts(p, " ", files)
	added, deleted := 0, 0
	for _, f := range files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	p.line(" %s, +%d −%d", count(len(files), "file"), added, deleted)
}

// writeCounts counts the lines of each file.
func writeCounts(p *printer, indent string, files []missions.FileChange) {
	var t table
	for _, f := range files {
		what := fmt.Sprintf("+%d −%d", f.Added, f.Deleted)
		switch {
		case f.Binary:
			what = "binary"
		case f.Type == "mode":
			what = "mode"
		}
		path := quotePath(f.Path)
		if f.OldPath != "" && f.OldPath != f.Path {
			path = quotePath(f.OldPath) + " → " + path
		}
		if p.width > 0 {
			path = cutFront(path, p.width-columns(indent+what)-7)
		}
		t.row(cell{letter(f), letterStyle(f)}, cell{path, plain}, cell{what, plain})
	}
	t.print(p, indent)
}

func letterStyle(f missions.FileChange) style {
	switch letter(f) {
	case "A":
		return green
	case "D":
		return red
	}
	return yellow
}
