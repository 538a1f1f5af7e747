package commands

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// patience is how long work goes on before it shows a bar.
const patience = time.Second

// progress shows notices on stderr: each wait as a line once, and figures as a
// bar, on a terminal, for what takes longer than a second.
type progress struct {
	w        io.Writer
	now      func() time.Time
	terminal bool
	quiet    bool
	width    func() int

	text  string // what is being done
	since time.Time
	drawn time.Time
	open  bool // a bar is on the line
}

func (c *call) newProgress() *progress {
	return &progress{w: c.Stderr, now: c.Now, terminal: c.err.terminal, quiet: c.Quiet, width: c.Width}
}

// notice takes in one notice, on the goroutine that called the Service.
func (p *progress) notice(n missions.Notice) {
	if p.quiet || n.Text == "" && n.Total == 0 {
		return
	}
	now := p.now()
	if n.Text != p.text {
		p.end()
		p.text, p.since, p.drawn = n.Text, now, time.Time{}
		if n.Total == 0 && n.Done == 0 {
			fmt.Fprintf(p.w, "%s\n", clean(n.Text))
		}
	}
	if n.Total == 0 && n.Done == 0 {
		return
	}
	last := n.Total > 0 && n.Done >= n.Total
	if !p.terminal || now.Sub(p.since) < patience || !last && now.Sub(p.drawn) < 50*time.Millisecond {
		return
	}
	p.drawn, p.open = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%s", p.bar(n))
}

// bar is one line that says how far something has come.
func (p *progress) bar(n missions.Notice) string {
	figure := func(v int64) string {
		if n.Unit == "bytes" {
			return size(v)
		}
		return fmt.Sprintf("%d", v)
	}
	said := figure(n.Done)
	if n.Total > 0 {
		said += " of " + figure(n.Total)
	}
	if n.Unit != "bytes" && n.Unit != "" {
		said += " " + n.Unit
	}
	line := clean(n.Text) + ": " + said
	if n.Total > 0 {
		const most = 20
		full := int(most * min(n.Done, n.Total) / n.Total)
		line += " [" + strings.Repeat("#", full) + strings.Repeat(" ", most-full) + "]"
	}
	return cut(line, max(p.width()-1, 10))
}

// end takes the bar off the line, before something else is written there.
func (p *progress) end() {
	if p.open {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.open = false
	}
	p.text = ""
}
