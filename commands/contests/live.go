package contests

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/forks"
	"github.com/umbra-vcs/umbra/commands/print"
)

// liveTable shows on a terminal how the forks of a contest stand, in one place.
type liveTable struct {
	terminal io.Writer
	printer  *print.Printer // as wide as the terminal
	height   func() int     // of the terminal, in lines
	now      func() time.Time
	lines    int // that the table takes now
}

func newLiveTable(c *call.Call) *liveTable {
	return &liveTable{terminal: c.Stderr, printer: c.Err, height: c.Height, now: c.Now}
}

// watch is what shows the forks: nil where there is no terminal to show them on, so that
// lines say what becomes of them.
func (t *liveTable) watch() func([]forks.Standing) {
	if !t.printer.Terminal {
		return nil
	}
	return t.draw
}

// draw draws no more than the terminal has lines: what has scrolled away can't be erased.
func (t *liveTable) draw(list []forks.Standing) {
	var text bytes.Buffer
	p, shown := t.printer.Into(&text), len(list)
	if most := t.height() - 1; shown > most { // below the table stands the cursor
		shown = max(0, most-1)
	}
	writeStandings(p, list[:shown], t.now())
	if more := len(list) - shown; more > 0 {
		p.Line("… and %d more", more)
	}
	_ = p.Flush() // into memory
	t.erase()
	t.lines = strings.Count(text.String(), "\n")
	_, _ = t.terminal.Write(text.Bytes()) // nobody is left to tell
}

// erase takes the table away, so that what comes next has its place.
func (t *liveTable) erase() {
	if t.lines > 0 {
		fmt.Fprintf(t.terminal, "\x1b[%dA\x1b[J", t.lines)
	}
	t.lines = 0
}

func writeStandings(p *print.Printer, list []forks.Standing, now time.Time) {
	var t print.Table
	for _, s := range list {
		state, took := print.Dim.Cell("waits"), ""
		switch {
		case s.Checks:
			state = print.Yellow.Cell("checks")
		case s.Ended:
			state = print.Green.Cell("ended")
		case !s.Begun.IsZero():
			state, took = print.Yellow.Cell("works"), max(0, now.Sub(s.Begun)).Round(time.Second).String()
		}
		t.Row(print.Plain.Cell(print.Clean(s.Mission)), state, print.Plain.Cell(took), print.Plain.Cell(print.Clean(s.Said)))
	}
	t.Print(p, "")
}
