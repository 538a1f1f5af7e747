package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// View is the screen.
func (m model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	v.WindowTitle = "umbra timeline"
	return v
}

// screen is the screen as text, height lines of exactly the width, if that is large
// enough for any.
func (m *model) screen() string {
	if m.width < 10 || m.height < 4 {
		return ansi.Truncate("too small", m.width, "")
	}
	lines := m.body()
	if m.overlay != nil {
		lines = m.over(lines)
	}
	foot := m.foot()
	lines = lines[:max(len(lines)-len(foot)+1, 0)]
	return strings.Join(append(append([]string{m.title()}, lines...), foot...), "\n")
}

// body is the panes.
func (m *model) body() []string {
	l := m.layout()
	h := max(m.height-2, 0)
	left := m.missions.lines(l.missions, m.focus == inMissions, m.o.Words)
	list := listView{&m.list, &m.missions, &m.o}.lines(l.rows, m.focus == inRows)
	right := m.details.view(l.details, m.focus == inDetails, len(m.list.rows) > 0)
	if l.rows.w+l.missions.w == m.width && l.details.w == m.width { // above each other
		return slices.Concat(left, list, right)
	}
	lines := make([]string, h)
	for _, pane := range [][]string{left, list, right} {
		for i, text := range pane[:min(len(pane), h)] {
			if lines[i] != "" {
				lines[i] += paint(dim, "│")
			}
			lines[i] += text
		}
	}
	return lines
}

// title names the project and the mission.
func (m *model) title() string {
	at := m.at()
	l := line{{" umbra ", reverse}, {" ", plain}}
	if at.ID == "" {
		return append(l, span{"timeline", bold}).render(m.width, false)
	}
	l = append(l, span{m.o.Clean(at.Name), bold}, span{"  " + stateText(at), stateStyle(at.State)},
		span{fmt.Sprintf("  turn %d", at.Turn), plain}, span{fmt.Sprintf("  %s", m.list.count(m.o.Words)), dim})
	if !m.list.history.done {
		l = append(l, span{"…", dim})
	}
	if m.layout().missions.w == 0 {
		l = append(l, m.missions.waiting(m.o.Words)...)
	}
	if at.State == missions.StateWaiting {
		l = append(l, span{"  " + m.o.Clean(m.o.About(at)) + " since " + m.o.clock(at.StateSince), yellow})
	}
	if len(m.list.marks) == 1 && m.list.history.index(m.list.marks[0]) < 0 {
		l = append(l, span{"  * a moment of another mission is marked", magenta})
	}
	if warning := m.missions.radar.warning(at.Name, m.o.Words); warning != "" {
		l = append(l, span{"  ! " + warning, yellow})
	}
	if m.list.filter.typed != "" {
		l = append(l, span{"  /" + m.o.Clean(m.list.filter.typed), magenta})
	}
	l = append(l, span{"  " + m.o.Place(at.Workspace), dim})
	return l.render(m.width, false)
}

// foot is the last line: a note, or the keys. A note that is too long for a line covers
// what is above it, since its end says what to type.
func (m *model) foot() []string {
	if m.note != "" {
		tone := green
		if m.problem {
			tone = red
		}
		var lines []string
		for _, l := range wrapped(m.note, m.width, tone) {
			lines = append(lines, l.render(m.width, false))
		}
		return lines[:min(len(lines), m.height-2)]
	}
	keys := hints(m.width, "? help", "q quit", "/ filter", "enter restore", "f fork", "c conversation", "d diff", "u undo", "o open", "tab panes", "space mark", "z fold", "p pin")
	switch {
	case m.overlay != nil:
		keys = m.overlay.keys(m)
	case m.focus == inMissions:
		keys = hints(m.width, "? help", "P promote", "s stop", "r resume", "R rename", "x remove", "t report", "d compare", "space mark", "C contest", "q quit")
	case m.focus == inDetails:
		keys = hints(m.width, "? help", "q quit", "enter restore", "space mark a path", "c conversation", "tab panes", "b blame", "o open", "O edit")
	}
	return []string{line{{keys, dim}}.render(m.width, false)}
}

// hints are as many keys as fit, whole: the others are in the help.
func hints(width int, keys ...string) string {
	text := ""
	for i, k := range keys {
		if i > 0 {
			k = "  " + k
		}
		if ansi.StringWidth(text+k) > width {
			break
		}
		text += k
	}
	return text
}

// heading is the first line of a pane.
func heading(text string, focused bool, width int) string {
	tone := dim
	if focused {
		tone, text = bold, "▌"+text
	} else {
		text = " " + text
	}
	return line{{text, tone}}.render(width, false)
}

// fill makes so many lines of a pane.
func fill(lines []string, r rect) []string {
	for len(lines) < r.h {
		lines = append(lines, strings.Repeat(" ", r.w))
	}
	return lines[:r.h]
}
