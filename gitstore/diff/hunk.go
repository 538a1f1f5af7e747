package diff

import (
	"fmt"
	"strings"
)

// Patches cuts the patch at its files: one for each of Files, in their order.
func (d Differences) Patches() []string {
	list := make([]string, len(d.Files))
	rest := d.Patch
	for i, f := range d.Files {
		for range f.sections() {
			n := strings.Index(rest, "\n"+sectionStart)
			section := rest[:n+1]
			if n < 0 {
				section = rest
			}
			list[i] += section
			rest = rest[len(section):]
		}
	}
	return list
}

// sectionStart begins what a patch says of a file. No line of a file begins so: each has
// its sign before it.
const sectionStart = "diff --git "

// sections counts what a patch has of the file: a file that became a link, or the reverse,
// is deleted and created.
func (f File) sections() int {
	const kind = 0o170000
	if from, to := f.From.Mode&kind, f.To.Mode&kind; from != 0 && to != 0 && from != to {
		return 2
	}
	return 1
}

// A Hunk is lines of a file that others took the place of. The lines are numbered from 1;
// the end is the first one after them, so that nothing lies between equal numbers.
type Hunk struct{ From, To, NewFrom, NewTo int }

// Hunks are the changed lines in the patch of one file, without those around them.
func Hunks(patch string) ([]Hunk, error) {
	var list []Hunk
	var at *Hunk // nil after a line that is on both sides
	from, to, within := 0, 0, false
	for line := range strings.Lines(patch) {
		if strings.HasPrefix(line, "@@ -") {
			var err error
			if from, to, err = hunkStart(line); err != nil {
				return nil, err
			}
			at, within = nil, true
			continue
		}
		if !within {
			continue
		}
		sign := line[0]
		if (sign == '-' || sign == '+') && at == nil {
			list = append(list, Hunk{From: from, To: from, NewFrom: to, NewTo: to})
			at = &list[len(list)-1]
		}
		switch sign {
		case '-':
			from++
			at.To = from
		case '+':
			to++
			at.NewTo = to
		case ' ':
			from, to, at = from+1, to+1, nil
		}
	}
	return list, nil
}

// hunkStart reads the lines that "@@ -FROM[,COUNT] +TO[,COUNT] @@" begins at. Where git
// counts none, it names the line before.
func hunkStart(line string) (from, to int, err error) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return 0, 0, fmt.Errorf("git diff-tree says %q of a hunk", line)
	}
	for i, n := range []*int{&from, &to} {
		side := fields[1+i][1:]
		start, count, counted := strings.Cut(side, ",")
		if _, err := fmt.Sscan(start, n); err != nil {
			return 0, 0, fmt.Errorf("git diff-tree says %q of a hunk: %w", line, err)
		}
		if counted && count == "0" {
			*n++
		}
	}
	return from, to, nil
}

// Touches reports whether two changes of one file are of the same lines, or lie side by
// side: git merges neither.
func (h Hunk) Touches(o Hunk) bool { return h.From <= o.To && o.From <= h.To }

// Before takes a change of a file to the lines that the file had before earlier changes,
// which are in their order.
func (h Hunk) Before(earlier []Hunk) Hunk {
	return Hunk{From: lineBefore(h.From, earlier, false), To: lineBefore(h.To, earlier, true), NewFrom: h.NewFrom, NewTo: h.NewTo}
}

// lineBefore is the number of a line before earlier changes. A line that they made becomes
// the first line that it took the place of or, at the end of a hunk, the one after the last.
func lineBefore(line int, earlier []Hunk, end bool) int {
	shift := 0
	for _, e := range earlier {
		switch {
		case line >= e.NewTo:
			shift = e.To - e.NewTo
		case line > e.NewFrom && end:
			return e.To
		case line > e.NewFrom:
			return e.From
		}
	}
	return line + shift
}
