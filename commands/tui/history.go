package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// How many snapshots are asked for first, and then at a time.
const (
	firstPage = 200
	nextPage  = 2000
)

// history is what is known of a mission's snapshots, newest first.
type history struct {
	mission string // id
	path    string // they are those that changed it, "" for all
	head    string // of the mission when the newest of them were asked for
	entries []missions.Entry
	done    bool   // to the first of them
	failed  error  // why the rest could not be read
	wanted  string // the snapshot that was gone to, until it is known
}

// loaded is a part of a history.
type loaded struct {
	mission, path string
	after         string // the last one that was known; "" is the newest page
	head          string // of the mission when it was asked
	entries       []missions.Entry
	done          bool
	err           error
}

// askHistory asks for the newest page.
func (m *model) askHistory() tea.Cmd { return m.askPage("", firstPage) }

// askPage asks for the snapshots after one that is known.
func (m *model) askPage(after string, limit int) tea.Cmd {
	at, path, ctx, o := m.at(), m.list.filter.path, m.ctx, m.o
	return func() tea.Msg {
		r := missions.LogRequest{Caller: o.Caller, Mission: at.ID, Limit: limit, After: after, Path: path, Lines: true}
		list, err := o.Service.Log(ctx, r)
		return loaded{mission: at.ID, path: path, after: after, head: at.Head, err: err, done: len(list) < limit, entries: list}
	}
}

// nameAt is what the path was called at a snapshot of the history.
func (h *history) nameAt(id string) string {
	name := h.path
	for _, e := range h.entries[:max(h.index(id), 0)] {
		if e.RenamedFrom != "" {
			name = e.RenamedFrom
		}
	}
	return name
}

// take joins a page to what is known. It reports false if it is of no use.
func (h *history) take(p loaded) bool {
	if p.mission != h.mission || p.path != h.path {
		return false
	}
	if p.after != "" {
		if len(h.entries) == 0 || h.entries[len(h.entries)-1].ID != p.after {
			return false
		}
		h.entries, h.done = append(slices.Clip(h.entries), p.entries...), p.done
		return true
	}
	h.head = p.head
	if len(p.entries) == 0 {
		h.done = len(h.entries) == 0
		return true
	}
	last := p.entries[len(p.entries)-1].ID
	if i := h.index(last); i >= 0 {
		h.entries = append(slices.Clip(p.entries), h.entries[i+1:]...)
		return true
	}
	h.entries, h.done = p.entries, p.done
	return true
}

// index is where a snapshot is in the list, -1 if it is not.
func (h *history) index(id string) int {
	return slices.IndexFunc(h.entries, func(e missions.Entry) bool { return e.ID == id })
}

// take takes a page, and asks for the next one.
func (p loaded) take(m *model) tea.Cmd {
	if p.err != nil {
		if p.mission == m.list.history.mission && m.list.history.failed == nil {
			m.list.history.failed = p.err
			m.fail(p.err)
			m.scroll()
		}
		return nil
	}
	m.list.history.failed = nil
	if !m.list.history.take(p) {
		return nil
	}
	if p.after == "" {
		m.details.forgetTurns()
	}
	m.list.rebuild()
	m.list.goToWanted()
	return tea.Batch(m.settle(), m.askRest())
}

// askRest asks for what is not known yet.
func (m *model) askRest() tea.Cmd {
	switch n := len(m.list.history.entries); {
	case m.list.history.done:
		return nil
	case n > 0:
		return m.askPage(m.list.history.entries[n-1].ID, nextPage)
	}
	return m.askHistory()
}

// readAgain asks once more for what could not be read.
func (m *model) readAgain() tea.Cmd {
	if m.list.history.failed == nil {
		return nil
	}
	m.list.history.failed = nil
	return m.askRest()
}
