package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// style is a select-graphic-rendition code. Only the sixteen colours that every
// palette has are used, but for source, and never colour alone to say something.
type style string

const (
	plain   style = ""
	bold    style = "1"
	dim     style = "2"
	reverse style = "7"
	red     style = "31"
	green   style = "32"
	yellow  style = "33"
	magenta style = "35"
	cyan    style = "36"
)

// span is a piece of a line in one style.
type span struct {
	text string
	tone style
}

// line is one line of a pane. An empty span at its end is the style of the rest.
type line []span

// paint puts text in a style.
func paint(s style, text string) string {
	if s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// columns is how wide the line is.
func (l line) columns() (n int) {
	for _, s := range l {
		n += ansi.StringWidth(s.text)
	}
	return n
}

// render makes the line exactly so wide. Selected it is reverse as a whole.
func (l line) render(width int, selected bool) string {
	var b strings.Builder
	left := width
	for _, s := range l {
		if left <= 0 {
			break
		}
		text := s.text
		n := ansi.StringWidth(text)
		if n > left {
			text = ansi.Truncate(text, left, "…")
			n = ansi.StringWidth(text)
		}
		left -= n
		if selected {
			b.WriteString(text)
		} else {
			b.WriteString(paint(s.tone, text))
		}
	}
	rest := strings.Repeat(" ", max(left, 0))
	if n := len(l); n > 0 && l[n-1].text == "" && !selected {
		rest = paint(l[n-1].tone, rest)
	}
	b.WriteString(rest)
	if selected {
		return paint(reverse, b.String())
	}
	return b.String()
}

func stateStyle(s missions.StateName) style {
	switch s {
	case missions.StateRunning, missions.StateWaiting:
		return yellow
	case missions.StateIdle:
		return green
	case missions.StateError:
		return red
	}
	return dim
}
