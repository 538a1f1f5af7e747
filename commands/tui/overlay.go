package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// overlay lies over the panes and has the keys. An overlay is a value: what
// changes it puts another in its place.
type overlay interface {
	key(*model, tea.KeyPressMsg) tea.Cmd
	// lines are what it shows, so wide. More than there is room for is scrolled.
	lines(m *model, width int) []line
	keys(m *model) string
}

// lay puts an overlay over the panes.
func (m *model) lay(o overlay) { m.overlay, m.above = o, 0 }

// overSize is how large an overlay may be, without its frame.
func (m *model) overSize() (w, h int) {
	return min(m.width-4, 96) - 4, max(m.height-4, 1)
}

// over draws the overlay into the middle of the lines.
func (m *model) over(lines []string) []string {
	w, most := m.overSize()
	inside := m.overlay.lines(m, w)
	h := min(len(inside), most)
	from := max(min(m.above, len(inside)-h), 0)
	width := w + 4
	top, left := max((len(lines)-h-2)/2, 0), (m.width-width)/2
	frame := func(i int, text string) {
		if i >= len(lines) {
			return
		}
		under := lines[i]
		lines[i] = ansi.Truncate(under, left, "") + "\x1b[m" + text + ansi.TruncateLeft(under, left+width, "")
	}
	frame(top, "┌"+strings.Repeat("─", width-2)+"┐")
	for i, l := range inside[from : from+h] {
		frame(top+1+i, "│ "+l.render(w, false)+" │")
	}
	frame(top+1+h, "└"+lowerEdge(from+h, len(inside), width-2)+"┘")
	return lines
}

// scrollOver takes a key that scrolls the overlay, and reports whether it does.
func (m *model) scrollOver(key string) bool {
	w, h := m.overSize()
	step := map[string]int{"j": 1, "down": 1, "k": -1, "up": -1, "pgdown": h, "pgup": -h, "ctrl+f": h, "ctrl+b": -h}[key]
	m.above = max(min(m.above+step, len(m.overlay.lines(m, w))-h), 0)
	return step != 0
}

// help lists the keys.
type help struct{}

const helpText = `move       j k ↑ ↓  pgup pgdn ctrl+u ctrl+d  ends: g G  turns: [ ]
panes      tab shift+tab ← →     details: J K, or move there
           a click goes there, the wheel moves what it is over
turns      z folds one, Z all    c  the conversation or the changes
           v  Git's own lines above each file of a patch, or none
filter     /  words, state:STATE, path:PATH     esc takes it away
search     / tab, over all missions: enter goes to what was found
compare    space marks a snapshot; two marks show what differs,
           also of two missions
           d: with the mark, or with the workspace as it is now
snapshots  » prompt  · tool  ✓ turn ended  ✗ error  ◆ by hand
           ⊘ interrupted  ↶ restore, undo  └ fork  ■ closed  ○ other
           [name] a pin  → name a fork  ! same lines as another fork
restore    enter shows what it would do; enter again does it
           among the changes, space marks the paths that are meant
           u takes the last restore back, U does it again
fork       f, from the snapshot: files and conversation
           P promotes the fork that is shown, t reports to its parent
missions   s stops the agent, r resumes it here, R renames, x removes
           among them, space marks two forks and d compares these
           C shows the forks of a contest; enter promotes one of them
           M merges the fork that is shown, or goes on with what waits
open       o shows a file as it was in the pager, O in your editor
           b says which turn wrote each line of it
also       p pins a snapshot, y copies its id
leave      q, ctrl+c; ctrl+z suspends`

// helpIndent is how wide what the keys are about is.
const helpIndent = 11

func (help) lines(_ *model, width int) []line {
	var lines []line
	for text := range strings.SplitSeq(helpText, "\n") {
		about := text[:helpIndent]
		for _, l := range wrapped(text[helpIndent:], width-helpIndent, plain) {
			lines = append(lines, append(line{{about, plain}}, l...))
			about = strings.Repeat(" ", helpIndent)
		}
	}
	return lines
}

func (help) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	if !m.scrollOver(k.String()) {
		m.overlay = nil
	}
	return nil
}

func (help) keys(*model) string { return "j k scroll  any other key goes back" }

// input asks for a line.
type input struct {
	title, text, hint string
	done              func(*model, string) tea.Cmd
	tab               func(typed string) overlay // what Tab asks instead, nil for nothing
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
	case key == "tab" && i.tab != nil:
		m.lay(i.tab(i.text))
		return nil
	default:
		i.text = edited(i.text, k)
	}
	m.overlay = i
	return nil
}

// edited is a line of text after a key.
func edited(text string, k tea.KeyPressMsg) string {
	switch k.String() {
	case "backspace":
		runes := []rune(text)
		return string(runes[:max(len(runes)-1, 0)])
	case "ctrl+u":
		return ""
	}
	return text + k.Text
}

func (i input) keys(*model) string {
	if i.tab != nil {
		return "enter takes it  tab the other  esc goes back  ctrl+u empties it"
	}
	return "enter takes it  esc goes back  ctrl+u empties it"
}

// lowerEdge is the lower edge of an overlay, which says if there is more below it.
func lowerEdge(shown, all, width int) string {
	text := ""
	if shown < all {
		text = fmt.Sprintf("─ %d more below ", all-shown)
	}
	return ansi.Truncate(text, width, "") + strings.Repeat("─", max(width-ansi.StringWidth(text), 0))
}
