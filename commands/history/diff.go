package history

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/wording"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

type diffOptions struct {
	turn       int
	conversing bool
	changes    changeOptions
}

func Diff() *call.Verb {
	var o diffOptions
	return &call.Verb{
		Name: "diff", Args: "[FROM] [TO]", Max: 2, After: "[-- PATH…]",
		Short: "compare moments with each other or with now",
		Long: `Without moments: from the last prompt to now. One: from that moment to now. Two: from
one to the other, which may be written FROM..TO.`,
		Flags: append([]flags.Flag{
			flags.Int("turn", "what turn `N` changed", &o.turn),
			flags.Bool("conversation", "what was said in between, too", &o.conversing),
		}, o.changes.flags()...),
		Run: func(c *call.Call) error { return runDiff(c, o) },
	}
}

func runDiff(c *call.Call, o diffOptions) error {
	if err := o.changes.check(); err != nil {
		return err
	}
	if o.turn > 0 && len(c.Arguments) > 1 {
		return missions.Errorf(missions.KindUsage, "umbra diff --turn N [MISSION]", "--turn compares the turn's own ends")
	}
	from, to, err := diffEnds(c.Arguments)
	if err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	if !c.JSON {
		o.changes = o.changes.orLines()
	}
	d, err := svc.Diff(ctx, missions.DiffRequest{
		Caller: caller, From: from, To: to, Turn: o.turn, Conversation: o.conversing,
		Patch: o.changes.lines(), Paths: c.After, Tolerant: true,
	})
	if err != nil {
		return pathMeant(err, c)
	}
	if c.JSON {
		d.Files = call.Listed(d.Files)
		return endLost(c, d.Lost, c.PrintJSON(d))
	}
	err = c.Paged("diff", func(p *print.Printer) { writeDifference(p, d, o) })
	sayUnpaired(c, d.Unpaired)
	if !c.Quiet {
		print.WriteKept(c.Err, "differ too, and can't be shown", d.LeftOut)
		_ = c.Err.Flush()
	}
	return endLost(c, d.Lost, err)
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
func pathMeant(err error, c *call.Call) error {
	e := missions.AsError(err)
	if e.Kind != missions.KindNotFound {
		return err
	}
	for i, arg := range c.Arguments {
		if _, serr := os.Lstat(arg); serr == nil && strings.Contains(e.Message, strconv.Quote(arg)) {
			words := slices.Concat([]string{"umbra", "diff"}, c.Arguments[:i], []string{"--"}, c.Arguments[i:], c.After)
			return missions.Errorf(e.Kind, "a path comes after --: "+home.ShellCommand(words), "%w", err)
		}
	}
	return err
}

func writeDifference(p *print.Printer, d missions.Difference, o diffOptions) {
	o.changes.write(p, d.From, d.Files, d.Patch)
	if o.conversing {
		p.Line("%s in between", print.Count(d.Conversation.EventsAdded, "event"))
		wording.Conversation(p, d.Conversation.Lines)
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

func writeNames(p *print.Printer, files []missions.FileChange) {
	for _, f := range files {
		name := print.Path(f.Path)
		if f.OldPath != "" && f.OldPath != f.Path {
			name = print.Path(f.OldPath) + "\t" + name
		}
		p.Line("%s\t%s", letter(f), name)
	}
}

// writeStat counts the lines of each file and, below them, of all.
func writeStat(p *print.Printer, files []missions.FileChange) {
	writeCounts(p, " ", files)
	added, deleted := 0, 0
	for _, f := range files {
		added, deleted = added+f.Added, deleted+f.Deleted
	}
	p.Line(" %s, +%d −%d", print.Count(len(files), "file"), added, deleted)
}

// writeCounts counts the lines of each file.
func writeCounts(p *print.Printer, indent string, files []missions.FileChange) {
	var t print.Table
	for _, f := range files {
		what := fmt.Sprintf("+%d −%d", f.Added, f.Deleted)
		switch {
		case f.Binary:
			what = "binary"
		case f.Type == "mode":
			what = "mode"
		}
		path := print.Path(f.Path)
		if f.OldPath != "" && f.OldPath != f.Path {
			path = print.Path(f.OldPath) + " → " + path
		}
		if p.Width > 0 {
			path = print.CutFront(path, p.Width-print.Columns(indent+what)-7)
		}
		t.Row(letterStyle(f).Cell(letter(f)), print.Plain.Cell(path), print.Plain.Cell(what))
	}
	t.Print(p, indent)
}

func letterStyle(f missions.FileChange) print.Style {
	switch letter(f) {
	case "A":
		return print.Green
	case "D":
		return print.Red
	}
	return print.Yellow
}
