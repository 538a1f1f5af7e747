package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// A MergeAnswer is one thing that an open path of a merge may become, and the key that
// takes it.
type MergeAnswer struct {
	Key, Text string
	Take      missions.MergeTake // TakeFile is what the user edits
}

// merging shows the paths of a merge that waits, and takes what becomes of each.
type merging struct {
	id     int // tells its answers from those to others
	of     missions.Mission
	result missions.MergeResult
	chosen missions.Path // the path that the keys act on
	busy   bool          // a key's answer is not there yet
}

// merged is a merge as it stands now, or why that can't be told.
type merged struct {
	id     int
	result missions.MergeResult
	err    error
}

// mergeText is a path of a merge with what each side has there.
type mergeText struct {
	id   int
	path missions.MergedPath
	edit bool
	err  error
}

// mergeEdited is what the user wrote that a path becomes.
type mergeEdited struct {
	id      int
	path    missions.Path
	content []byte
	err     error
}

// showMerge shows the merge that waits into a mission or, of a fork, into its parent. Where
// none waits, it shows what merging the fork comes to.
func showMerge(m *model, at missions.Mission) tea.Cmd {
	return merging{of: at}.ask(m, func(ctx context.Context, o Options) (missions.MergeResult, error) {
		r, err := o.Service.Merge(ctx, missions.MergeRequest{Caller: o.Caller, Step: missions.MergeStatus, Into: at.ID})
		if err != nil && missions.AsError(err).Kind == missions.KindNotFound && at.Parent != nil {
			r, err = o.Service.Merge(ctx, missions.MergeRequest{Caller: o.Caller, Step: missions.MergeStatus, Into: at.Parent.Mission})
		}
		return r, err
	})
}

// ask asks for the merge as it is after a step.
func (g merging) ask(m *model, step func(context.Context, Options) (missions.MergeResult, error)) tea.Cmd {
	m.asked++
	g.id, g.busy = m.asked, true
	if _, isShown := m.overlay.(merging); isShown {
		m.overlay = g
	} else {
		m.lay(g)
	}
	ctx, o := m.ctx, m.o
	return func() tea.Msg {
		r, err := step(ctx, o)
		return merged{g.id, r, err}
	}
}

// take takes an answer, if it is to what is shown.
func (a merged) take(m *model) tea.Cmd {
	g, ok := m.overlay.(merging)
	if !ok || g.id != a.id {
		return nil
	}
	g.busy = false
	m.overlay = g
	switch {
	case a.err == nil:
		g.result = a.result
		m.overlay = g.at(m, g.next())
	case g.result.ID != "" && !isGone(a.err): // a step was refused: the merge is as it was
		m.fail(a.err)
	case g.result.ID == "" && missions.AsError(a.err).Kind == missions.KindNotFound && g.of.Parent != nil:
		return planMerge(m, g.of)
	default:
		m.overlay = nil
		m.fail(a.err)
	}
	return nil
}

// isGone reports whether a merge waits no more, or another one does.
func isGone(err error) bool {
	kind := missions.AsError(err).Kind
	return kind == missions.KindNotFound || kind == missions.KindConflict
}

// planMerge shows what merging a fork into its parent comes to.
func planMerge(m *model, fork missions.Mission) tea.Cmd {
	o := m.o
	begin := func(ctx context.Context, preview bool) (missions.MergeResult, error) {
		return o.Service.Merge(ctx, missions.MergeRequest{
			Caller: o.Caller, Step: missions.MergeBegin, Forks: []string{fork.ID}, Into: fork.Parent.Mission, Preview: preview,
		})
	}
	return deed{
		title: "merge " + o.Clean(fork.Name) + " into " + o.Clean(m.missions.find(fork.Parent.Mission).Name),
		plan: func(ctx context.Context, _ bool) ([]string, error) {
			r, err := begin(ctx, true)
			if err != nil {
				return nil, err
			}
			said := o.Merged(r)
			if len(r.Conflicts) > 0 {
				said = append(said, "", "Nothing is changed before each of them is settled: enter begins, then M asks about them.")
			}
			return said, nil
		},
		do: func(ctx context.Context, _ bool) (outcome, error) {
			r, err := begin(ctx, false)
			switch {
			case err != nil:
				return outcome{}, err
			case r.Done:
				return outcome{said: o.Merged(r)}, nil
			}
			return outcome{note: strings.Join(append([]string{o.Count(len(r.Conflicts), "path") + " to settle: M shows them"}, r.Notes...), "; ")}, nil
		},
	}.ask(m)
}

// paths are those that are or were a question, the most severe first. Each stays where it is
// when it is settled.
func (g merging) paths() []missions.MergedPath {
	paths := slices.Clone(g.result.Conflicts)
	for _, q := range g.result.Taken {
		if q.Chosen != "" {
			paths = append(paths, q)
		}
	}
	order := []missions.Severity{missions.SeverityCritical, missions.SeverityHigh, missions.SeverityMedium, missions.SeverityLow}
	slices.SortFunc(paths, func(a, b missions.MergedPath) int {
		return cmp.Or(slices.Index(order, a.Severity)-slices.Index(order, b.Severity), strings.Compare(string(a.Path), string(b.Path)))
	})
	return paths
}

// next is where the keys act after an answer: at the path where they did while that is open,
// else at the next one that is.
func (g merging) next() int {
	paths, at := g.paths(), max(g.index(), 0)
	for i := range paths {
		if i := (at + i) % len(paths); paths[i].Chosen == "" {
			return i
		}
	}
	return at
}

// index is where the path stands that the keys act on, -1 if it stands there no more.
func (g merging) index() int {
	return slices.IndexFunc(g.paths(), func(q missions.MergedPath) bool { return q.Path == g.chosen })
}

// mergeHead is how many lines are above the paths.
const mergeHead = 2

// at goes to a path, and shows it.
func (g merging) at(m *model, i int) merging {
	g.chosen = ""
	if paths := g.paths(); len(paths) > 0 {
		i = max(min(i, len(paths)-1), 0)
		g.chosen = paths[i].Path
	}
	_, h := m.overSize()
	m.above = max(0, i+mergeHead+1-h/2)
	return g
}

func (g merging) key(m *model, k tea.KeyPressMsg) tea.Cmd {
	key, i := k.String(), g.index()
	switch {
	case key == "esc", key == "q":
		m.overlay = nil
	case g.busy:
	case key == "j", key == "down":
		m.overlay = g.at(m, i+1)
	case key == "k", key == "up":
		m.overlay = g.at(m, i-1)
	case key == "c":
		return g.end(m, "merge into ", "umbra undo takes it back.", "--continue")
	case key == "f" && g.isCheckBad():
		return g.end(m, "merge into ", "It is taken though the check does not pass. umbra undo takes it back.", "--continue", "--force")
	case key == "x":
		return g.end(m, "drop the merge into ", "Nothing of it is in any workspace. What you have chosen goes.", "--abort")
	case key == "a":
		return g.choose(m, g.allMerged()...)
	case i < 0:
	case key == "enter":
		return g.look(m, false)
	default:
		q := g.paths()[i]
		for _, a := range m.o.MergeAnswers(g.result, q) {
			if a.Key != key {
				continue
			}
			if a.Take == missions.TakeFile {
				return g.look(m, true)
			}
			return g.choose(m, missions.MergeChoice{Path: q.Path, Take: a.Take})
		}
	}
	return nil
}

// choose keeps what becomes of paths, and goes to the next one that is open.
func (g merging) choose(m *model, choices ...missions.MergeChoice) tea.Cmd {
	if len(choices) == 0 {
		return nil
	}
	r := g.request(m, missions.MergeResolve)
	r.Choices = choices
	return g.ask(m, func(ctx context.Context, o Options) (missions.MergeResult, error) {
		result, err := o.Service.Merge(ctx, r)
		if wrote := choices[0].Content; err != nil && len(wrote) > 0 {
			e := missions.AsError(err)
			err = missions.Errorf(e.Kind, e.Hint, "%s; %s", e.Message, o.KeepEdited(string(choices[0].Path), wrote))
		}
		return result, err
	})
}

// request is a step of this merge, and of no other one.
func (g merging) request(m *model, step missions.MergeStep) missions.MergeRequest {
	return missions.MergeRequest{Caller: m.o.Caller, Step: step, Into: g.result.IntoID, Merge: g.result.ID}
}

// allMerged takes what Git merged, of every path that is open and no more than that.
func (g merging) allMerged() (list []missions.MergeChoice) {
	for _, q := range g.result.Conflicts {
		if q.Severity != missions.SeverityCritical && slices.Contains(q.Options, missions.TakeMerged) {
			list = append(list, missions.MergeChoice{Path: q.Path, Take: missions.TakeMerged})
		}
	}
	return list
}

// isCheckBad reports whether the check does not like what the merge is by now.
func (g merging) isCheckBad() bool {
	return g.result.Check != nil && g.result.Check.State != missions.CheckGood
}

// end ends the merge as these flags say, once its user has seen what that comes to.
func (g merging) end(m *model, title, said string, flags ...string) tea.Cmd {
	o, r := m.o, g.request(m, missions.MergeStatus)
	return deed{
		title: title + o.Clean(g.result.Into),
		plan: func(ctx context.Context, _ bool) ([]string, error) {
			now, err := o.Service.Merge(ctx, r)
			if err != nil {
				return nil, err
			}
			lines := append(o.Merged(now), "")
			if flags[0] == "--continue" && now.NeedsMerger() {
				lines = append(lines, o.Clean(now.Merger)+" is asked first what becomes of paths.")
			}
			if len(flags) == 1 && flags[0] == "--continue" && now.CheckCommand != "" {
				lines = append(lines, "The check runs first: "+o.Clean(now.CheckCommand))
			}
			return append(lines, said), nil
		},
		do: func(ctx context.Context, _ bool) (outcome, error) {
			if _, err := o.Service.Merge(ctx, r); err != nil { // another one may wait by now
				return outcome{}, err
			}
			return outcome{said: o.EndMerge(ctx, r.Into, flags...)}, nil
		},
	}.ask(m)
}

// look shows what each side has changed at the path in the pager, or has the user edit it.
func (g merging) look(m *model, edit bool) tea.Cmd {
	g.busy = true
	m.overlay = g
	ctx, o, id, path, r := m.ctx, m.o, g.id, g.chosen, g.request(m, missions.MergeStatus)
	r.Texts = []missions.Path{path}
	return func() tea.Msg {
		result, err := o.Service.Merge(ctx, r)
		for _, q := range slices.Concat(result.Conflicts, result.Taken) {
			if q.Path == path && q.Texts != nil && len(q.Texts.Sides) > 0 {
				return mergeText{id, q, edit, err}
			}
		}
		if err == nil {
			err = missions.Errorf(missions.KindUsage, "", "there is no text at %s to be shown", path)
		}
		return mergeText{id: id, err: err}
	}
}

// take hands the terminal to the program that shows the text.
func (a mergeText) take(m *model) tea.Cmd {
	g, ok := m.overlay.(merging)
	switch {
	case !ok || g.id != a.id:
		return nil
	case a.err != nil:
		return merged{id: a.id, err: a.err}.take(m)
	case a.edit:
		edited, edit := mergeEdited{id: a.id, path: a.path.Path}, m.o.EditMerged
		return m.o.release(aside(func() (err error) {
			edited.content, err = edit(a.path)
			return err
		}), func(err error) tea.Msg {
			edited.err = err
			return edited
		})
	}
	g.busy = false
	m.overlay = g
	page, text := m.o.Page, strings.Join(m.o.MergeTexts(a.path), "\n")+"\n"
	return m.o.release(aside(func() error { return page(text) }), func(err error) tea.Msg { return closed{err: err} })
}

// take takes what the user wrote.
func (a mergeEdited) take(m *model) tea.Cmd {
	g, ok := m.overlay.(merging)
	switch {
	case !ok || g.id != a.id:
		if a.err == nil {
			m.say(m.o.KeepEdited(string(a.path), a.content))
		}
		return nil
	case a.err != nil:
		g.busy = false
		m.overlay = g
		m.fail(a.err)
		return nil
	}
	return g.choose(m, missions.MergeChoice{Path: a.path, Take: missions.TakeFile, Content: a.content})
}

func (g merging) lines(m *model, width int) []line {
	if g.result.Into == "" {
		return []line{{{"reading …", dim}}}
	}
	var from []string
	for _, side := range g.result.From {
		from = append(from, m.o.Clean(side.Mission))
	}
	lines := []line{
		{{fmt.Sprintf("merge %s into %s", strings.Join(from, ", "), m.o.Clean(g.result.Into)), bold}},
		{{fmt.Sprintf("%s taken, %d open", m.o.Count(len(g.result.Taken), "path"), len(g.result.Conflicts)), dim}},
	}
	for _, q := range g.paths() {
		point := "  "
		if q.Path == g.chosen {
			point = "> "
		}
		became := ""
		if q.Chosen != "" {
			became = "  " + m.o.Clean(q.Chosen)
		}
		lines = append(lines, line{{point, plain}, {fmt.Sprintf("%-9s", q.Severity), severityStyle(q.Severity)}, {m.o.Path(string(q.Path)), plain}, {became, green}})
		if q.Path == g.chosen {
			lines = append(lines, g.answers(m, q, width)...)
		}
	}
	if n := len(g.allMerged()); n > 1 {
		lines = append(lines, line{}, line{{"a", bold}, {fmt.Sprintf("  takes what Git merged, of %d paths", n), plain}})
	}
	switch {
	case g.isCheckBad():
		lines = append(lines, line{}, line{{"The check does not pass: c checks again, f takes it all the same.", bold}})
	case len(g.result.Conflicts) == 0:
		lines = append(lines, line{}, line{{"Nothing is open any more: c merges.", bold}})
	}
	return lines
}

// answers are why the path that the keys act on is a question, and what may become of it.
func (g merging) answers(m *model, q missions.MergedPath, width int) []line {
	const indent = "             "
	lines := wrapped(indent+m.o.Clean(q.Reason+" ("+strings.Join(q.Missions, ", ")+")"), width, dim)
	if q.Proposal != nil {
		lines = append(lines, wrapped(indent+m.o.MergeProposal(*q.Proposal), width, yellow)...)
	}
	for _, a := range m.o.MergeAnswers(g.result, q) {
		lines = append(lines, line{{indent + a.Key, bold}, {"  " + a.Text, plain}})
	}
	return lines
}

func severityStyle(s missions.Severity) style {
	switch s {
	case missions.SeverityCritical:
		return red
	case missions.SeverityHigh:
		return yellow
	}
	return plain
}

func (g merging) keys(*model) string {
	if g.busy {
		return "it is being asked  esc goes back"
	}
	return "enter shows both sides  c merges, x drops it  j k choose  esc goes back"
}
