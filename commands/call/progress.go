package call

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// beforeBar is how long work goes on before it shows a bar.
const beforeBar = time.Second

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
	from  int64 // the bytes that were done then
	drawn time.Time
	open  bool // a bar is on the line
}

func (c *Call) newProgress() *progress {
	return &progress{w: c.Stderr, now: c.Now, terminal: c.Err.Terminal, quiet: c.Quiet, width: c.Width}
}

// notice takes in one notice, on the goroutine that called the Service.
func (p *progress) notice(n missions.Notice) {
	if p.quiet || n.Text == "" && n.Total == 0 {
		return
	}
	now := p.now()
	if n.Text != p.text {
		p.end()
		p.text, p.since, p.from, p.drawn = n.Text, now, doneBytes(n), time.Time{}
		if n.Total == 0 && n.Done == 0 {
			fmt.Fprintf(p.w, "%s\n", print.Clean(n.Text))
		}
	}
	if n.Total == 0 && n.Done == 0 {
		return
	}
	last := n.Total > 0 && n.Done >= n.Total
	if !p.terminal || now.Sub(p.since) < beforeBar || !last && now.Sub(p.drawn) < 50*time.Millisecond {
		return
	}
	p.drawn, p.open = now, true
	fmt.Fprintf(p.w, "\r\x1b[K%s", p.bar(n))
}

// bar is one line that says how far something has come. If it does not fit, the
// drawing goes first, then the end of the text, the figures last.
func (p *progress) bar(n missions.Notice) string {
	most := max(p.width()-1, 10)
	figures, text := p.figures(n), print.Clean(n.Text)
	line := text + ": " + figures
	if drawn := line + drawing(n); print.Columns(drawn) <= most {
		return drawn
	}
	if room := most - print.Columns(figures) - len(": "); room >= minText && print.Columns(line) > most {
		return print.Cut(text, room) + ": " + figures
	}
	return print.Cut(line, most)
}

// minText is how much of a text must be left for it to say anything.
const minText = 10

// doneBytes is how many bytes of the work are done, as far as that is known.
func doneBytes(n missions.Notice) int64 {
	if n.Unit == "bytes" {
		return n.Done
	}
	return n.Bytes
}

// figures are how much is done of how much, and how fast.
func (p *progress) figures(n missions.Notice) string {
	var parts []string
	if n.Unit == "bytes" {
		n.Bytes, n.TotalBytes = n.Done, n.Total
	} else {
		said := fmt.Sprint(n.Done)
		if n.Total > 0 {
			said += fmt.Sprintf(" of %d", n.Total)
		}
		parts = append(parts, strings.TrimSpace(said+" "+n.Unit))
	}
	if n.Bytes > 0 || n.Unit == "bytes" {
		said := print.Size(n.Bytes)
		if n.TotalBytes > 0 {
			said += " of " + print.Size(n.TotalBytes)
		}
		parts = append(parts, said)
	}
	if took := p.drawn.Sub(p.since).Seconds(); took >= 1 && n.Bytes > p.from {
		parts = append(parts, print.Size(int64(float64(n.Bytes-p.from)/took))+"/s")
	}
	return strings.Join(parts, ", ")
}

// drawing is the bar itself, of the bytes where they are known.
func drawing(n missions.Notice) string {
	const most = 20
	done, total := n.Done, n.Total
	if n.TotalBytes > 0 {
		done, total = n.Bytes, n.TotalBytes
	}
	if total <= 0 {
		return ""
	}
	full := int(most * min(done, total) / total)
	return " [" + strings.Repeat("#", full) + strings.Repeat(" ", most-full) + "]"
}

// end takes the bar off the line, before something else is written there.
func (p *progress) end() {
	if p.open {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.open = false
	}
	p.text = ""
}
