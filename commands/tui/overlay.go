package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// overlay lies over the panes and has the keys. An overlay is a value: what
// changes it puts another in its place.
type overlay interface {
	key(*model, tea.KeyPressMsg) tea.Cmd
	// lines are what it shows, at most so wide.
	lines(m *model, width int) []line
	keys() string
}

// over draws the overlay into the middle of the lines.
func (m *model) over(lines []string) []string {
	width := min(m.width-4, 96)
	inside := m.overlay.lines(m, width-4)
	h := min(len(inside), max(len(lines)-2, 1))
	inside = inside[:h]
	top, left := max((len(lines)-h-2)/2, 0), (m.width-width)/2
	frame := func(i int, text string) {
		if i >= len(lines) {
			return
		}
		under := lines[i]
		lines[i] = ansi.Truncate(under, left, "") + "\x1b[m" + text + ansi.TruncateLeft(under, left+width, "")
	}
	frame(top, "┌"+strings.Repeat("─", width-2)+"┐")
	for i, l := range inside {
		frame(top+1+i, "│ "+l.render(width-4, false)+" │")
	}
	frame(top+1+h, "└"+strings.Repeat("─", width-2)+"┘")
	return lines
}

// help lists the keys.
type help struct{ top int }

const helpText = `move       j k ↑ ↓  pgup pgdn ctrl+u ctrl+d  ends: g G  turns: [ ]
panes      tab shift+tab ← →     details: J K, or move there
turns      z folds one, Z all
filter     /  words, state:STATE, path:PATH     esc takes it away
compare    space marks a snapshot; two marks show what differs
           d: with the mark, or with the workspace as it is now
show       c  the conversation or the changes
snapshots  » prompt  · tool  ✓ turn ended  ✗ error  ◆ by hand
           ↶ restore, undo  └ fork  ■ closed  ○ other
           [name] a pin  → name a fork
act        p pins a snapshot, y copies its id
leave      q, ctrl+c; ctrl+z suspends`

func (h help) lines(*model, int) []line {
	var lines []line
	for text := range strings.SplitSeq(helpText, "\n") {
		lines = append(lines, line{{text, plain}})
	}
	return lines[min(h.top, len(lines)-1):]
}

func (h help) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "j", "down":
		m.overlay = help{h.top + 1}
	case "k", "up":
		m.overlay = help{max(h.top-1, 0)}
	default:
		m.overlay = nil
	}
	return nil
}

func (h help) keys() string { return "j k scroll  any other key goes back" }

// input asks for a line.
type input struct {
	title, text, hint string
	done              func(*model, string) tea.Cmd
}

func (i input) lines(m *model, width int) []line {
	shown := m.o.Clean(i.text) + "_"
	if over := ansi.StringWidth(shown) - width; over > 0 {
		shown = ansi.TruncateLeft(shown, over+1, "…")
	}
	return []line{{{i.title, bold}, {"  " + i.hint, dim}}, {{shown, plain}}}
}

func (i input) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	switch key := k.String(); {
	case key == "esc":
		m.overlay = nil
		return nil
	case key == "enter":
		m.overlay = nil
		return i.done(m, i.text)
	case key == "backspace":
		runes := []rune(i.text)
		i.text = string(runes[:max(len(runes)-1, 0)])
	case key == "ctrl+u":
		i.text = ""
	default:
		i.text += k.Text
	}
	m.overlay = i
	return nil
}

func (i input) keys() string { return "enter takes it  esc goes back  ctrl+u empties it" }
