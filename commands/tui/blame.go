package tui

import (
	"cmp"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// blaming shows which turn wrote each line of a file.
type blaming struct {
	id     int // tells its answer from those to others
	path   string
	lined  []missions.BlamedLine
	asking bool
	chosen int
}

// blamed is who wrote a file, or why that can't be told.
type blamed struct {
	id    int
	blame missions.Blame
	err   error
}

// askBlame asks who wrote the file that the pointer is on, as it was.
func askBlame(m *model) tea.Cmd {
	f, ok := m.details.chosenFile(m.focus == inDetails)
	if !ok {
		m.focus = inDetails
		m.layDetails()
		m.say("choose a file, then b says which turn wrote each line")
		return nil
	}
	moment, path := m.details.now.sideOf(f)
	if m.details.now.after == "" && f.Type != "deleted" {
		moment, path = "", f.Path // as it is now
	}
	m.asked++
	b := blaming{id: m.asked, path: path, asking: true}
	m.lay(b)
	ctx, o := m.ctx, m.o
	r := missions.BlameRequest{Caller: o.Caller, Moment: moment, Path: path}
	r.Caller.Cwd = m.at().Workspace // which the path is relative to
	return func() tea.Msg {
		blame, err := o.Service.Blame(ctx, r)
		return blamed{b.id, blame, err}
	}
}

func (a blamed) take(m *model) {
	b, isShown := m.overlay.(blaming)
	switch {
	case !isShown || b.id != a.id:
	case a.err != nil:
		m.overlay = nil
		m.fail(a.err)
	default:
		b.lined, b.asking = a.blame.Lines, false
		m.overlay = b
	}
}

func (b blaming) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	_, h := m.overSize()
	step := map[string]int{"j": 1, "down": 1, "k": -1, "up": -1, "pgdown": h - 1, "pgup": 1 - h, "g": -1 << 30, "G": 1 << 30}[k.String()]
	switch key := k.String(); {
	case key == "esc" || key == "q":
		m.overlay = nil
		return nil
	case key == "enter" && b.chosen < len(b.lined):
		l := b.lined[b.chosen]
		if l.Snapshot == "" {
			m.say("no snapshot has made this line")
			return nil
		}
		return show(m, missions.SearchHit{Mission: l.Mission, Project: m.at().Project, Snapshot: l.Snapshot, Address: l.Address})
	}
	b.chosen = max(min(b.chosen+step, len(b.lined)-1), 0)
	m.overlay = b
	m.above = max(0, b.chosen+2-h)
	return nil
}

func (b blaming) lines(m *model, width int) []line {
	head := line{{m.o.Path(b.path), bold}}
	if b.asking {
		return []line{head, {{"reading …", dim}}}
	}
	names := make([]string, len(b.lined))
	widest := 0
	for i, l := range b.lined {
		names[i] = m.o.Clean(strings.TrimSpace(cmp.Or(l.Address, string(l.By)) + " " + cmp.Or(l.Prompt, l.Message)))
		widest = max(widest, ansi.StringWidth(names[i]))
	}
	widest = min(widest, width/3)
	lines := []line{head}
	for i, l := range b.lined {
		point, tone := "  ", plain
		if i == b.chosen {
			point, tone = "> ", bold
		}
		who := ansi.Truncate(names[i], widest, "…")
		if i > 0 && names[i] == names[i-1] && i != b.chosen {
			who = "" // of the same turn
		}
		text := m.o.Clean(strings.ReplaceAll(l.Text, "\t", "    "))
		lines = append(lines, line{
			{point + who + strings.Repeat(" ", widest-ansi.StringWidth(who)), cyan}, {fmt.Sprintf(" %4d ", l.Line), dim}, {text, tone},
		})
	}
	return lines
}

func (b blaming) keys(*model) string {
	return "enter goes to the moment that wrote it  j k choose  esc goes back"
}
