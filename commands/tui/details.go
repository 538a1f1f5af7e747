package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/missions"
)

// How many answers are remembered, how many lines of one are shown, and of how
// many files a snapshot's patch is asked for: a first snapshot holds them all.
const (
	mostDetails    = 64
	mostLines      = 20_000
	mostPatchFiles = 400
)

// detailKey says what the details are of; it is comparable.
type detailKey struct {
	kind     string // show, turn or diff
	from, to string // ids; of a turn the mission's
	turn     int
	brief    bool   // without the patch
	path     string // whose changes alone are meant, "" for all
}

func (k detailKey) String() string {
	return fmt.Sprint(k.kind, " ", k.from, " ", k.to, " ", k.turn, " ", k.brief, " ", k.path)
}

// detail is the answer.
type detail struct {
	key           detailKey
	head          []line
	files         []missions.FileChange
	patch         []highlight.Line
	number        int    // of the question, which is asked again where a turn goes on
	before, after string // ids of the snapshots that it lies between; after is "" for now
	said          []missions.ConversationLine
	err           error
}

// details is the pane on the right.
type details struct {
	want    detailKey
	asked   int // questions
	now     detail
	have    bool
	talking bool // the conversation is shown, not the changes
	headers bool // patches have Git's own lines above each file
	cache   map[string]detail
	lines   []line // as they are shown, at a width
	files   []int  // the file that each is about, by its index; -1 for none
	width   int
	top     int
	pointer int      // the line that the keys are at
	marked  []string // paths, for a restore of them alone
}

// turn begins to show something else.
func (d *details) turn(to detailKey) {
	if to != d.want {
		d.top, d.pointer, d.marked = 0, 0, nil
	}
	d.want = to
}

// settled comes when the cursor has rested on something.
type settled detailKey

// forgetTurns drops answers that a new snapshot may change.
func (d *details) forgetTurns() {
	d.cache = maps.Clone(d.cache)
	maps.DeleteFunc(d.cache, func(_ string, v detail) bool { return v.key.kind != "show" })
}

// look shows what the cursor is on, or what two marks differ by. An answer that
// is not known is asked for when the cursor has rested.
func (m *model) look() tea.Cmd {
	key, ok := m.list.wanted(m.at().ID)
	if !ok {
		m.details.have, m.details.lines = false, nil
		return nil
	}
	m.details.turn(key)
	if d, known := m.details.cache[key.String()]; known {
		m.showDetail(d)
		return nil
	}
	return m.o.later(restful, settled(key))
}

// askDetail asks the Service.
func (m *model) askDetail(key detailKey) tea.Cmd {
	ctx, o := m.ctx, m.o
	m.details.asked++
	d := detail{key: key, number: m.details.asked}
	var paths []string
	if key.path != "" {
		paths = []string{key.path}
		o.Caller.Cwd = m.at().Workspace // which the path is relative to
	}
	addresses := m.list.history.entries
	nameOf := func(id string) string { // its address, where that is known
		if i := slices.IndexFunc(addresses, func(e missions.Entry) bool { return e.ID == id && e.Address != "" }); i >= 0 {
			return o.Clean(addresses[i].Address)
		}
		return o.Short(id)
	}
	return func() tea.Msg {
		d := d
		if key.kind == "show" {
			s, err := o.Service.Show(ctx, missions.ShowRequest{Caller: o.Caller, Moment: key.from, Brief: key.brief, Paths: paths})
			d.head, d.files, d.patch, d.said, d.err = headOf(s, o.Words), s.Files, highlight.Patch(s.Patch), s.Conversation, err
			d.before, d.after = s.Entry.Parent, s.Entry.ID
			return d
		}
		r := missions.DiffRequest{Caller: o.Caller, From: key.from, To: key.to, Patch: true, Conversation: true, Paths: paths}
		if key.kind == "turn" {
			r.To, r.Turn = "", key.turn
		}
		x, err := o.Service.Diff(ctx, r)
		d.files, d.patch, d.said, d.err = x.Files, highlight.Patch(x.Patch), x.Conversation.Lines, err
		d.before, d.after = x.From, x.To
		to := "now"
		if x.To != "" {
			to = nameOf(x.To)
		}
		d.head = []line{{{nameOf(x.From) + " → " + to, yellow}}}
		return d
	}
}

// take takes an answer; one that nobody waits for any more is remembered. It
// is asked then what is on the lines of its patch.
func (d detail) take(m *model) tea.Cmd {
	if d.err == nil && (d.key.kind != "diff" || d.key.to != "") {
		m.details.remember(d)
	}
	if d.key == m.details.want {
		m.showDetail(d)
	}
	if d.err != nil || len(d.patch) == 0 {
		return nil
	}
	return m.askPaint(d)
}

func (d *details) remember(x detail) {
	d.cache = maps.Clone(d.cache)
	if len(d.cache) >= mostDetails {
		clear(d.cache)
	}
	d.cache[x.key.String()] = x
}

// painted is an answer whose patch is painted.
type painted detail

// askPaint paints the patch of an answer.
func (m *model) askPaint(d detail) tea.Cmd {
	ctx, o := m.ctx, m.o
	o.Caller.Cwd = m.at().Workspace // whose project the snapshots are of
	return func() tea.Msg {
		files := highlight.Files(ctx, o.Service, o.Caller, d.before, d.files)
		d.patch = new(highlight.Painter).Paint(d.patch, files)
		return painted(d)
	}
}

// take puts an answer in the place of itself, unless that was forgotten.
func (p painted) take(m *model) {
	d := detail(p)
	if m.details.cache[d.key.String()].number == d.number {
		m.details.remember(d)
	}
	if m.details.have && m.details.now.number == d.number {
		m.showDetail(d)
	}
}

func (m *model) showDetail(d detail) {
	m.details.now, m.details.have = d, true
	m.layDetails()
}

// layDetails breaks the details into lines of the pane's width.
func (m *model) layDetails() { m.details.lay(m.layout().details.w, m.o.Words, m.o.Palette) }

// lay breaks the details into lines of a width.
func (d *details) lay(width int, o Words, p highlight.Palette) {
	d.width = width
	d.lines, d.files = nil, nil
	switch {
	case !d.have || d.width == 0:
		return
	case d.now.err != nil:
		d.lines = errorLines(d.now.err, d.width, o.Clean)
	case d.talking:
		d.lines = talkLines(d.now.said, d.width, o.Clean)
	default:
		d.lines, d.files = changeLines(d.now, d.marked, d.headers, o, p)
	}
	d.top = max(min(d.top, len(d.lines)-1), 0)
	d.pointer = max(min(d.pointer, len(d.lines)-1), 0)
}

// errorLines are what went wrong, and what to type.
func errorLines(err error, width int, clean func(string) string) []line {
	e := missions.AsError(err)
	lines := wrapped(clean(e.Message), width, red)
	if e.Hint != "" {
		lines = append(lines, wrapped(clean(e.Hint), width, plain)...)
	}
	return lines
}

func headOf(s missions.ShowResult, o Words) []line {
	clean := o.Clean
	e := s.Entry
	head := []line{
		{{o.Short(e.ID), yellow}, {"  " + clean(e.Address), cyan}},
		{{e.StateWords(), stateStyle(e.State)}, {"  " + e.At.Format("2006-01-02 15:04:05"), dim}, {"  " + clean(strings.Join(e.Triggers, " ")), dim}},
		{{clean(e.Words()), plain}},
	}
	add := func(what, value string) {
		if value != "" {
			head = append(head, line{{what + " ", dim}, {clean(value), plain}})
		}
	}
	add("git", strings.TrimSpace(s.Git.Branch+" "+o.Short(s.Git.Head)+" "+s.Git.Operation))
	add("restored from", o.Short(e.RestoredFrom))
	add("forked from", o.Short(e.ForkedFrom))
	add("promoted from", o.Short(e.PromotedFrom))
	add("pins", strings.Join(e.Pins, " "))
	for i, k := range s.Skipped {
		if i == 5 {
			add("left out", fmt.Sprintf("… and %d more", len(s.Skipped)-i))
			break
		}
		add("left out", k.Path+" ("+k.Reason+")")
	}
	return head
}

// changeLines are what changed: the files, then the patch. Which of the files each
// line is about goes with them.
func changeLines(d detail, marked []string, headers bool, o Words, p highlight.Palette) (lines []line, files []int) {
	add := func(file int, l line) { lines, files = append(lines, l), append(files, file) }
	for _, l := range d.head {
		add(-1, l)
	}
	add(-1, line{})
	for i, f := range d.files {
		if i == mostPatchFiles {
			add(-1, line{{fmt.Sprintf("… and %d more files", len(d.files)-i), dim}})
			break
		}
		add(i, fileLine(f, slices.Contains(marked, f.Path), o.Clean))
	}
	if len(d.files) == 0 {
		add(-1, line{{"no file differs", dim}})
	}
	add(-1, line{})
	if d.key.brief {
		add(-1, line{{"too many files for their differences to be shown; umbra show " + o.Short(d.key.from) + " has them", dim}})
		return lines, files
	}
	file := -1
	for _, l := range d.patch {
		if len(lines) >= mostLines {
			add(-1, line{{"… and more than is shown here; umbra diff shows it all", dim}})
			return lines, files
		}
		of := min(l.File, len(d.files)-1)
		switch begins := of >= 0 && l.File != file; {
		case headers || !l.Known():
			add(of, patchLine(l, p, o.Clean))
		case begins && len(d.files) > 1:
			add(of, line{{o.Clean(d.files[of].Path), bold}})
		}
		file = l.File
	}
	return lines, files
}

// patchLine is a line of a patch; what it lies on goes on to the pane's edge.
func patchLine(l highlight.Line, p highlight.Palette, clean func(string) string) line {
	var shown line
	for _, piece := range p.Pieces(l) {
		shown = append(shown, span{clean(strings.ReplaceAll(piece.Text, "\t", "    ")), style(piece.Code)})
	}
	if ground := p.Ground(l.Kind); ground != "" {
		shown = append(shown, span{"", style(ground)})
	}
	return shown
}

func fileLine(f missions.FileChange, marked bool, clean func(string) string) line {
	letter, tone := "M", yellow
	switch f.Type {
	case "added":
		letter, tone = "A", green
	case "deleted":
		letter, tone = "D", red
	case "renamed":
		letter, tone = "R", cyan
	}
	name := clean(f.Path)
	if f.Type == "renamed" {
		name = clean(f.OldPath) + " → " + name
	}
	what := fmt.Sprintf("  +%d −%d", f.Added, f.Deleted)
	if f.Binary {
		what = "  binary"
	}
	mark := " "
	if marked {
		mark = "*"
	}
	return line{{letter + mark, tone}, {name, plain}, {what, dim}}
}

// talkLines are what was said.
func talkLines(said []missions.ConversationLine, width int, clean func(string) string) []line {
	if len(said) == 0 {
		return []line{{{"nothing was said", dim}}}
	}
	var lines []line
	for _, s := range said {
		tone := plain
		switch s.Role {
		case "user":
			tone = bold
		case "tool":
			tone = dim
		}
		lines = append(lines, line{{clean(s.Role), cyan}})
		for text := range strings.SplitSeq(strings.TrimRight(s.Text, "\n"), "\n") {
			text = clean(strings.ReplaceAll(text, "\t", "    "))
			lines = append(lines, wrapped(text, width, tone)...)
		}
		if len(lines) >= mostLines {
			return append(lines, line{{"… and more than is shown here", dim}})
		}
	}
	return lines
}

// wrapped breaks a paragraph into lines.
func wrapped(text string, width int, tone style) []line {
	var lines []line
	for part := range strings.SplitSeq(ansi.Wrap(text, max(width, 1), ""), "\n") {
		lines = append(lines, line{{part, tone}})
	}
	return lines
}

// view is the pane; somewhere reports whether there is anything for the details to be of.
func (d *details) view(r rect, focused, somewhere bool) []string {
	if r.w == 0 || r.h == 0 {
		return nil
	}
	title := "changes"
	if d.talking {
		title = "conversation"
	}
	if n := len(d.lines); n > r.h-1 {
		title += fmt.Sprintf("  %d%%", 100*min(d.top+r.h-1, n)/n)
	}
	lines := []string{heading(title, focused, r.w)}
	for i := d.top; i < len(d.lines) && len(lines) < r.h; i++ {
		lines = append(lines, d.lines[i].render(r.w, i == d.pointer && focused && !d.talking))
	}
	if !d.have && somewhere {
		lines = append(lines, line{{"reading …", dim}}.render(r.w, false))
	}
	return fill(lines, r)
}
