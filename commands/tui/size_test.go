package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// TestEverySize: the screen is exactly as large as the terminal, whatever is shown
// and however small that is; and a terminal that is resized shows what one of that
// size would.
func TestEverySize(t *testing.T) {
	sizes := [][2]int{{40, 8}, {80, 8}, {80, 24}, {200, 8}, {200, 60}, {20, 3}, {1, 1}}
	for _, keys := range [][]string{nil, {"j", "j"}, {"j", "tab"}, {"tab", "tab"}, {"?"}, {"f"}, {"/", "x"}, {"z"}, {"j", "d"}, {"G"}, {"s"}, {"x"}, {"R"}, {"tab", "tab", "j", "P"}, {"P"}, {"tab", "tab", "space", "j", "d"}} {
		for _, size := range sizes {
			x := begin(t, world(20), size[0], size[1]).keys(keys...)
			fitsIn(t, fmt.Sprint(keys), x.model.screen(), size[0], size[1])
			for _, other := range sizes {
				x.resize(other[0], other[1])
				fitsIn(t, fmt.Sprintf("%v, resized from %v", keys, size), x.model.screen(), other[0], other[1])
			}
		}
	}
}

func fitsIn(t *testing.T, what, screen string, width, height int) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if tiny := strings.HasPrefix("too small", lines[0]); len(lines) != height && !tiny {
		t.Errorf("%s: %d lines of %d", what, len(lines), height)
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > width {
			t.Errorf("%s: %d columns of %d: %q", what, n, width, l)
		}
	}
}

// TestSixteenColours: nothing but source has other colours than the sixteen that
// every palette has.
func TestSixteenColours(t *testing.T) {
	x := begin(t, world(20), 120, 30).keys("j", "j")
	for _, keys := range []string{"j", "tab", "?", "esc", "f", "esc", "z"} {
		x.keys(keys)
		for _, wide := range []string{"\x1b[38;", "\x1b[48;", ";38;5;", ";48;5;"} {
			if screen := x.model.screen(); strings.Contains(screen, wide) {
				t.Errorf("after %s the screen has %q:\n%q", keys, wide, screen)
			}
		}
	}
}

func (x *session) resize(width, height int) { x.send(tea.WindowSizeMsg{Width: width, Height: height}) }
