package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// seenAt is where a text is seen first below the title.
func (x *session) seenAt(text string) (column, row int) {
	x.Helper()
	for row, line := range strings.Split(x.plain(), "\n") {
		if before, _, ok := strings.Cut(line, text); ok && row > 0 {
			return ansi.StringWidth(before), row
		}
	}
	x.Fatalf("no %q on\n%s", text, x.plain())
	return 0, 0
}

func (x *session) click(text string) *session {
	x.Helper()
	column, row := x.seenAt(text)
	x.send(tea.MouseClickMsg{X: column, Y: row, Button: tea.MouseLeft})
	return x
}

func (x *session) wheel(text string, button tea.MouseButton) *session {
	x.Helper()
	column, row := x.seenAt(text)
	x.send(tea.MouseWheelMsg{X: column, Y: row, Button: button})
	return x
}

// TestMouse: a click goes to what is seen there, the wheel moves what it is over, however
// the panes lie.
func TestMouse(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"three panes": {180, 30}, "two": {100, 24}, "above each other": {60, 40}, "one": {60, 20}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := begin(t, world(20), size[0], size[1])
			x.click("turn 19")
			if at := x.model.list.rows[x.model.list.cursor]; !at.key.turn || at.turn.n != 19 || x.model.focus != inRows {
				t.Errorf("a click on turn 19 goes to %+v in pane %d", at, x.model.focus)
			}
			before := x.model.list.cursor
			x.wheel("turn 19", tea.MouseWheelDown)
			if x.model.list.cursor != before+wheelStep {
				t.Errorf("the wheel goes from row %d to %d", before, x.model.list.cursor)
			}
			for range 100 {
				x.wheel("snapshots", tea.MouseWheelUp)
			}
			if x.model.list.cursor != 0 {
				t.Errorf("the wheel ends at row %d", x.model.list.cursor)
			}
			if name != "one" {
				x.click("changes")
				if x.model.focus != inDetails {
					t.Errorf("a click on the changes goes to pane %d", x.model.focus)
				}
				x.click("@@")
				if i := x.model.details.pointer; !strings.Contains(ansi.Strip(x.model.details.lines[i].render(80, false)), "@@") {
					t.Errorf("a click on @@ goes to line %d", i)
				}
			}
			before = x.model.details.top
			if name != "one" && x.wheel("changes", tea.MouseWheelDown).model.details.top != before+wheelStep {
				t.Errorf("the wheel moves the changes from %d to %d", before, x.model.details.top)
			}
			if name == "three panes" {
				x.click("french")
				if x.model.focus != inMissions || x.model.at().Name != "french" {
					t.Errorf("a click on french shows %s in pane %d", x.model.at().Name, x.model.focus)
				}
				x.wheel("missions", tea.MouseWheelUp)
				if x.model.at().Name != "demo" {
					t.Errorf("the wheel over the missions shows %s", x.model.at().Name)
				}
			}
			for _, nowhere := range []tea.MouseClickMsg{{X: 0, Y: 0}, {X: 3, Y: size[1] - 1}, {X: -1, Y: -1}, {X: size[0], Y: 3}, {X: 3, Y: size[1] - 2}} {
				nowhere.Button = tea.MouseLeft
				x.send(nowhere)
				fitsIn(t, name, x.model.screen(), size[0], size[1])
			}
			x.keys("?").wheel("move", tea.MouseWheelDown)
			if x.model.overlay == nil || x.model.above == 0 && size[1] == 20 {
				t.Errorf("the wheel over the help: %d lines above", x.model.above)
			}
		})
	}
}
