package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/missions"
)

// askFilter asks what the list is to be filtered by, or what to search all missions for: what
// was typed is kept where the one gives way to the other.
func askFilter(typed string) overlay {
	return input{
		title: "filter", text: typed, hint: "words, state:idle, path:src; tab: search all missions", done: (*model).narrow,
		tab: askSearch,
	}
}

func askSearch(typed string) overlay {
	return input{
		title: "search all missions", text: typed, hint: `words, "a text"; tab: filter this mission`, done: search,
		tab: askFilter,
	}
}

// found are the moments at which something was said or done, in any mission, newest first.
type found struct {
	query  string
	hits   []missions.SearchHit
	more   bool // there may be more behind them
	asking bool
	chosen int
}

// hits are a page of what was found.
type hits struct {
	query  string
	after  int // how many were before them
	result missions.SearchResult
	err    error
}

// search begins to look for a text.
func search(m *model, query string) tea.Cmd {
	if strings.TrimSpace(query) == "" {
		return nil
	}
	f := found{query: query}
	m.lay(f)
	return f.ask(m)
}

// ask asks for the next page.
func (f found) ask(m *model) tea.Cmd {
	f.asking = true
	m.overlay = f
	ctx, o := m.ctx, m.o
	r := missions.SearchRequest{Caller: o.Caller, Query: f.query}
	if n := len(f.hits); n > 0 {
		r.After = &f.hits[n-1]
	}
	return func() tea.Msg {
		result, err := o.Service.Search(ctx, r)
		return hits{query: f.query, after: len(f.hits), result: result, err: err}
	}
}

// take takes a page, if it is still wanted.
func (h hits) take(m *model) {
	f, isShown := m.overlay.(found)
	if !isShown || f.query != h.query || len(f.hits) != h.after {
		return
	}
	f.asking, m.note = false, "" // it said that it searches
	if h.err != nil {
		m.overlay = nil
		m.fail(h.err)
		return
	}
	f.hits, f.more = append(slices.Clip(f.hits), h.result.Hits...), h.result.More && len(h.result.Hits) > 0
	m.overlay = f
}

// foundHead is how many lines are above the hits.
const foundHead = 1

func (f found) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	_, h := m.overSize()
	step := map[string]int{"j": 1, "down": 1, "k": -1, "up": -1, "pgdown": h - foundHead, "pgup": foundHead - h}[k.String()]
	switch key := k.String(); {
	case key == "esc" || key == "q":
		m.overlay = nil
		return nil
	case key == "/":
		m.lay(askSearch(f.query))
		return nil
	case key == "enter" && len(f.hits) > 0:
		return show(m, f.hits[f.chosen])
	case step == 0:
		return nil
	}
	f.chosen = max(min(f.chosen+step, len(f.hits)-1), 0)
	m.overlay = f
	m.above = max(0, f.chosen+foundHead+1-h)
	if f.more && !f.asking && f.chosen == len(f.hits)-1 {
		return f.ask(m)
	}
	return nil
}

// show goes to a moment that was found.
func show(m *model, hit missions.SearchHit) tea.Cmd {
	at := slices.IndexFunc(m.missions.all, func(x missions.Mission) bool { return x.Name == hit.Mission && x.Project == hit.Project })
	switch {
	case hit.Removed:
		m.say(fmt.Sprintf("%s is in the trash: umbra trash restore %[1]s", m.o.Clean(hit.Mission)))
		return nil
	case isFetched(hit):
		m.say(fmt.Sprintf("%s was fetched: umbra show %s", m.o.Clean(hit.Mission), m.o.Clean(hit.Address)))
		return nil
	case at < 0:
		m.say(fmt.Sprintf("%s is of another project: umbra show %s", m.o.Clean(hit.Mission), m.o.Clean(hit.Address)))
		return nil
	}
	m.overlay, m.focus = nil, inRows
	m.list.filter = filter{}
	m.missions.shown = at
	cmd := m.open()
	m.list.history.wanted = hit.Snapshot
	return cmd
}

// isFetched reports whether a mission was fetched: the list has none of those.
func isFetched(hit missions.SearchHit) bool {
	_, _, fetched := missions.SplitFetched(hit.Mission)
	return fetched
}

func (f found) lines(m *model, width int) []line {
	title := fmt.Sprintf("%s, newest first", m.o.Count(len(f.hits), "moment"))
	switch {
	case f.asking && len(f.hits) == 0:
		title = "searching…"
	case f.more:
		title = fmt.Sprintf("the newest %s", m.o.Count(len(f.hits), "moment"))
	}
	lines := []line{{{m.o.Clean(f.query), bold}, {"  " + title, dim}}}
	widest := 0
	for _, hit := range f.hits {
		widest = max(widest, ansi.StringWidth(m.o.Clean(hit.Address)))
	}
	widest = min(widest, width/3)
	for i, hit := range f.hits {
		point, tone := "  ", plain
		if i == f.chosen {
			point, tone = "> ", bold
		}
		address := ansi.Truncate(m.o.Clean(hit.Address), widest, "…")
		lines = append(lines, line{
			{point + address + strings.Repeat(" ", widest-ansi.StringWidth(address)), tone},
			{fmt.Sprintf("  %-8s  ", hit.In), dim}, {m.o.Clean(hit.Text) + inSubagent(hit), plain},
		})
	}
	return lines
}

// inSubagent says that a subagent said it, or was asked.
func inSubagent(hit missions.SearchHit) string {
	if hit.Subagent == "" {
		return ""
	}
	return " (in a subagent)"
}

func (f found) keys(*model) string {
	if len(f.hits) == 0 {
		return "/ another text  esc goes back"
	}
	return "enter goes there  j k choose  / another text  esc goes back"
}
