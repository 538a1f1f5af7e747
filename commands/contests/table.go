package contests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// writeTable prints a row for each fork. What is not known is a dash.
func writeTable(p *print.Printer, forks []missions.ComparedFork) {
	checked := isChecked(forks)
	var t print.Table
	row := func(style print.Style, check print.Cell, texts []string) {
		cells := []print.Cell{style.Cell(print.Clean(texts[0]))}
		if checked {
			cells = append(cells, check)
		}
		for _, text := range texts[1:] {
			cells = append(cells, style.Cell(text))
		}
		t.Row(cells...)
	}
	row(print.Dim, print.Dim.Cell("check"), columns)
	for _, f := range forks {
		row(print.Plain, checkCell(f.Check), columnsOf(f))
	}
	t.Print(p, "")
}

func isChecked(forks []missions.ComparedFork) bool {
	return slices.ContainsFunc(forks, func(f missions.ComparedFork) bool { return f.Check != nil })
}

// columns are what is compared, beside the check.
var columns = []string{"fork", "turns", "time", "tokens", "cost", "files", "lines", "alone", "shared"}

func columnsOf(f missions.ComparedFork) []string {
	return []string{
		f.Mission, fmt.Sprint(f.Turns), secondsText(f.Seconds), tokensText(f.Tokens), costText(f.Cost),
		fmt.Sprint(f.Files), fmt.Sprintf("+%d −%d", f.Lines.Added, f.Lines.Deleted), fmt.Sprint(len(f.Alone)), fmt.Sprint(len(f.Shared)),
	}
}

const unknown = "-"

func checkCell(check *missions.Check) print.Cell {
	switch {
	case check == nil:
		return print.Plain.Cell(unknown)
	case check.State == missions.CheckGood:
		return print.Green.Cell(string(check.State))
	case check.State == missions.CheckBad:
		return print.Red.Cell(string(check.State))
	}
	return print.Yellow.Cell(string(check.State))
}

func secondsText(seconds *float64) string {
	if seconds == nil {
		return unknown
	}
	d := time.Duration(*seconds * float64(time.Second))
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func tokensText(tokens *int64) string {
	if tokens == nil {
		return unknown
	}
	return print.Thousands(*tokens)
}

func costText(cost *float64) string {
	if cost == nil {
		return unknown
	}
	return fmt.Sprintf("$%.2f", *cost)
}

// WriteDifferences prints, path by path, what each fork has changed there. A renamed file
// has two paths: the old one says where it went, the new one has its lines.
func WriteDifferences(p *print.Printer, forks []missions.ComparedFork) {
	paths := map[string]bool{}
	for _, f := range forks {
		for _, change := range f.Changes {
			paths[change.Path] = true
			if change.OldPath != "" {
				paths[change.OldPath] = true
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		p.Line("")
		p.Line("%s", p.Paint(print.Bold, print.Path(path)))
		seen := map[string]string{} // who has a patch first
		for _, f := range forks {
			writeFileDifference(p, f, path, seen)
		}
	}
}

func writeFileDifference(p *print.Printer, f missions.ComparedFork, path string, seen map[string]string) {
	i := slices.IndexFunc(f.Changes, func(change missions.FileChange) bool { return change.Path == path })
	if i < 0 {
		writeWithoutLines(p, f, path)
		return
	}
	change, patch := f.Changes[i], f.Patches[i]
	head := fmt.Sprintf("in %s: %s, +%d −%d", print.Clean(f.Mission), change.Type, change.Added, change.Deleted)
	if first := seen[patch]; first != "" {
		p.Line("%s", p.Paint(print.Cyan, head+", as in "+print.Clean(first)))
		return
	}
	seen[patch] = f.Mission
	p.Line("%s", p.Paint(print.Cyan, head))
	print.WritePatch(p, f.ForkPoint, []missions.FileChange{change}, withEnd(patch))
}

// writeWithoutLines says of a path whose lines are not a change of this fork's whether it
// was renamed.
func writeWithoutLines(p *print.Printer, f missions.ComparedFork, path string) {
	i := slices.IndexFunc(f.Changes, func(change missions.FileChange) bool { return change.OldPath == path })
	if i < 0 {
		p.Line("%s", p.Paint(print.Dim, "in "+print.Clean(f.Mission)+": as it was"))
		return
	}
	p.Line("%s", p.Paint(print.Cyan, "in "+print.Clean(f.Mission)+": renamed to "+print.Path(f.Changes[i].Path)))
}

// withEnd is a patch that ends with a line's end, so that what follows has a line to itself.
func withEnd(patch string) string {
	if patch == "" || strings.HasSuffix(patch, "\n") {
		return patch
	}
	return patch + "\n"
}
