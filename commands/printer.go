package commands

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/highlight"
)

// style is a colour with a meaning; what it looks like is decided in one place.
type style string

const (
	plain    style = ""
	bold     style = "1"
	dim      style = "2"
	red      style = "31"
	green    style = "32"
	yellow   style = "33"
	magenta  style = "35"
	cyan     style = "36"
	boldCyan style = "1;36"
)

// printer writes text for people: in colour and cut to the terminal's width
// where there is one, plain and whole otherwise.
type printer struct {
	w        *bufio.Writer
	terminal bool
	color    bool
	palette  highlight.Palette
	width    int // 0: no limit
	now      time.Time
	source   *source // what changed lines are painted from, nil for none
}

func (c *call) printer(w io.Writer) *printer {
	p := &printer{w: bufio.NewWriter(w)}
	p.terminal = c.IsTerminal(w)
	switch c.Color {
	case "always":
		p.color = true
	case "auto":
		p.color = p.terminal && c.Getenv("NO_COLOR") == "" && c.Getenv("TERM") != "dumb"
	}
	if p.color {
		p.palette = highlight.PaletteOf(c.Getenv)
	}
	if p.terminal {
		p.width = c.Width()
	}
	p.now = c.Now()
	return p
}

func (p *printer) flush() error { return p.w.Flush() }

// line writes one line. Foreign text in args is to be clean.
func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(p.w, format, args...)
	p.w.WriteByte('\n')
}

// paint puts text in a style.
func (p *printer) paint(s style, text string) string {
	if !p.color || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// when shows a time: its age on a terminal, else the time itself, which does
// not change from one run to the next.
func (p *printer) when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if !p.terminal {
		return t.Format(time.RFC3339)
	}
	return age(p.now.Sub(t))
}

func age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 100*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours())/24)
	}
	return fmt.Sprintf("%dmo ago", int(d.Hours())/24/30)
}

// size shows a number of bytes.
func size(n int64) string {
	const units = "KMGTPE"
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, i := float64(n)/1024, 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}

// count is a number with its noun.
func count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// short is an id as people read it.
func short(id string) string { return id[:min(len(id), 10)] }
