package history

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// blameOptions are the flags of umbra blame.
type blameOptions struct{ at, lines string }

// Blame is `umbra blame`.
func Blame() *call.Verb {
	var o blameOptions
	return &call.Verb{
		Name: "blame", Args: "FILE", Min: 1, Max: 1, Short: "say which turn wrote each line of a file",
		Long: `Each line is printed with the first snapshot that has it, and the prompt of that turn:
umbra show and umbra fork take its address. A line that no turn wrote is "between turns"
(yours, or another program's), or has the commit of yours that brought it.
Renames, forks, promotions, merges and restores are seen through. Umbra goes by what the
file held, not by commit ids: after a squash, a rebase, an amended commit or a cherry-pick
in your repository the answer is the same.`,
		Flags: []flags.Flag{
			flags.String("at", "the file as it was at `MOMENT`, instead of now", &o.at),
			flags.String("L", "only these lines: `FIRST[,LAST]`, or FIRST,+COUNT", &o.lines, "lines"),
		},
		Run: func(c *call.Call) error { return runBlame(c, o) },
	}
}

func runBlame(c *call.Call, o blameOptions) error {
	first, last, err := parseLines(o.lines)
	if err != nil {
		return err
	}
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	b, err := svc.Blame(ctx, missions.BlameRequest{Caller: caller, Path: c.Arg(0), Moment: o.at, First: first, Last: last})
	if err != nil {
		return err
	}
	if c.JSON {
		return c.PrintJSON(b)
	}
	return c.Paged("blame", func(p *print.Printer) { writeBlame(p, b.Lines) })
}

// parseLines reads FIRST, FIRST,LAST or FIRST,+COUNT. 0 is no limit.
func parseLines(typed string) (first, last int, err error) {
	if typed == "" {
		return 0, 0, nil
	}
	wrong := missions.Errorf(missions.KindUsage, "-L 10,20 or -L 10,+5", "-L: %q names no lines", typed)
	from, to, ended := strings.Cut(typed, ",")
	if first, err = strconv.Atoi(from); err != nil || first < 1 {
		return 0, 0, wrong
	}
	if !ended {
		return first, 0, nil
	}
	count, counted := strings.CutPrefix(to, "+")
	if last, err = strconv.Atoi(count); err != nil || last < 1 {
		return 0, 0, wrong
	}
	if counted {
		last += first - 1
	}
	if last < first {
		return 0, 0, wrong
	}
	return first, last, nil
}

// How wide a prompt, and an address, may be before a line of code off a terminal; how narrow
// a prompt may be that says something, and a terminal that has room for dates.
const (
	promptColumns  = 32
	addressColumns = 20
	leastColumns   = 8
	widthForDates  = 80
)

// origin says where a line comes from.
func origin(l missions.BlamedLine) (where, why string, style print.Style) {
	where, why, style = l.Address, l.Prompt, print.Yellow
	switch {
	case l.Commit != "":
		where, why, style = print.Short(l.Commit), l.Message, print.Plain
	case where == "" && l.Mission != "":
		where = l.Mission + "@now"
	}
	return print.Clean(where), print.Clean(cmp.Or(why, l.Message)), style
}

// writeBlame prints a file with the origin of each line before it.
func writeBlame(p *print.Printer, lines []missions.BlamedLine) {
	dates := !p.Terminal || p.Width >= widthForDates
	prompts := columnsForPrompts(p, lines, dates)
	t := print.Table{Most: []int{addressColumns}}
	for _, l := range lines {
		where, why, style := origin(l)
		cells := []print.Cell{style.Cell(where)}
		if prompts > 0 {
			cells = append(cells, print.Plain.Cell(print.Cut(why, prompts)))
		}
		if when := "-"; dates {
			if !l.At.IsZero() {
				when = l.At.Local().Format(time.DateOnly)
			}
			cells = append(cells, print.Dim.Cell(when))
		}
		t.Row(append(cells, print.Plain.Cell(fmt.Sprintf("%*d) %s", digitsOf(lines), l.Line, codeText(p, l.Text))))...)
	}
	t.Print(p, "")
}

// columnsForPrompts is how wide prompts are: on a terminal what code leaves them, which has
// half of the width where it needs that.
func columnsForPrompts(p *print.Printer, lines []missions.BlamedLine, dates bool) int {
	if !p.Terminal {
		return promptColumns
	}
	const gap = 2
	address, code := 0, 0
	for _, l := range lines {
		where, _, _ := origin(l)
		address = max(address, min(print.Columns(where), addressColumns))
		code = max(code, digitsOf(lines)+gap+print.Columns(codeText(p, l.Text)))
	}
	left := p.Width - address - gap - gap - min(code, p.Width/2)
	if dates {
		left -= len(time.DateOnly) + gap
	}
	if left < leastColumns {
		return 0
	}
	return left
}

// codeText is a line of a file. A terminal is given spaces, since only they can be cut to
// its width.
func codeText(p *print.Printer, text string) string {
	if p.Width > 0 {
		text = strings.ReplaceAll(text, "\t", "    ")
	}
	return print.CleanLines(text)
}

// digitsOf is how wide the number of the last line is.
func digitsOf(lines []missions.BlamedLine) int {
	if len(lines) == 0 {
		return 1
	}
	return len(strconv.Itoa(lines[len(lines)-1].Line))
}
