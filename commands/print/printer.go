// Package print writes what people read: lines, columns and patches, in colour and cut to
// the terminal where there is one, plain and whole elsewhere. It knows no verb, and asks
// for nothing but files as they were.
package print

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/highlight"
)

// Style is a colour with a meaning; what it looks like is decided in one place.
type Style string

const (
	Plain    Style = ""
	Bold     Style = "1"
	Dim      Style = "2"
	Red      Style = "31"
	Green    Style = "32"
	Yellow   Style = "33"
	Magenta  Style = "35"
	Cyan     Style = "36"
	BoldCyan Style = "1;36"
)

// Printer writes text for people: in colour and cut to the terminal's width
// where there is one, plain and whole otherwise.
type Printer struct {
	w        *bufio.Writer
	Terminal bool
	Color    bool
	Palette  highlight.Palette
	Width    int // 0: no limit
	Now      time.Time
	Source   *Source // what changed lines are painted from, nil for none
}

// To is a printer of plain text, as wide as it is.
func To(w io.Writer) *Printer { return &Printer{w: bufio.NewWriter(w)} }

// Into is the same printer, writing elsewhere.
func (p *Printer) Into(w io.Writer) *Printer {
	q := *p
	q.w = bufio.NewWriter(w)
	return &q
}

// Write writes text as it is.
func (p *Printer) Write(text string) { p.w.WriteString(text) }

func (p *Printer) Flush() error { return p.w.Flush() }

// Line writes one line. Foreign text in args is to be clean.
func (p *Printer) Line(format string, args ...any) {
	fmt.Fprintf(p.w, format, args...)
	p.w.WriteByte('\n')
}

// Paint puts text in a style.
func (p *Printer) Paint(s Style, text string) string {
	if !p.Color || s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// Mark emphasises what matches in a text.
func (p *Printer) Mark(match *regexp.Regexp, text string) string {
	return match.ReplaceAllStringFunc(text, func(found string) string { return p.Paint(Red, found) })
}

// When shows a time: its age on a terminal, else the time itself, which does
// not change from one run to the next.
func (p *Printer) When(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if !p.Terminal {
		return t.Format(time.RFC3339)
	}
	return Age(p.Now.Sub(t))
}

func Age(d time.Duration) string {
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

// Size shows a number of bytes.
func Size(n int64) string {
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

// Count is a number with its noun.
func Count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(noun, "y"))
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Short is an id as people read it.
func Short(id string) string { return id[:min(len(id), 10)] }

// Thousands is a number of tokens as people read it.
func Thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}
