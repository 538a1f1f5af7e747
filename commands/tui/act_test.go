package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/umbra-vcs/umbra/commands/highlight"
	"github.com/umbra-vcs/umbra/missions"
)

func (s *service) Fork(_ context.Context, r missions.ForkRequest) (missions.ForkResult, error) {
	s.called("fork %s %q %v %v %s", r.From[len(r.From)-2:], r.Name, r.Launching, r.Yes, r.Ignored)
	if s.refused != nil && !r.Yes {
		return missions.ForkResult{}, s.refused
	}
	return missions.ForkResult{Missions: []missions.Mission{{ID: "new", Name: r.Name}}}, nil
}

func (s *service) Cat(_ context.Context, r missions.CatRequest) ([]byte, error) {
	if r.FromTop { // for the colours of a patch
		return []byte("echo\thello\n"), s.err
	}
	s.called("cat %s %s", r.Moment, r.Path)
	return []byte("as it was\n"), s.err
}

func (x *session) calledLast(want string) {
	x.Helper()
	calls := x.model.o.Service.(*service).calls
	if got := calls[len(calls)-1]; got != want {
		x.Errorf("asked %q, want %q", got, want)
	}
}

func TestFork(t *testing.T) {
	s := world(4)
	x := begin(t, s, 100, 24).keys("j", "j", "f").sees("fork demo@4", "demo is left as it is", "(empty: a name is chosen)", "[x] only make it")
	x.keys("esc").misses("fork demo@4")
	x.keys("f", "brave z", "backspace").send(tea.PasteMsg{Content: "one"})
	x.sees("brave one_")
	x.keys("enter")
	x.calledLast(`fork 11 "brave one" false false `)
	x.sees("forked: brave one")
	x.keys("esc").misses("forked:")
	x.keys("f", "there", "tab").sees("[x] launch its agent here")
	x.keys("enter")
	x.calledLast(`fork 11 "there" true false `)
	if !x.quit || x.model.leaving == nil || x.model.leaving.Mission.Name != "there" {
		t.Errorf("a launch leaves with %+v, quit %v", x.model.leaving, x.quit)
	}
}

// A fork that would copy too much asks; no key does it by accident.
func TestForkRefused(t *testing.T) {
	s := world(4)
	s.refused = missions.Errorf(missions.KindConflict, "another name", "the name is taken")
	x := begin(t, s, 100, 30).keys("j", "j", "f", "ctrl+y", "enter").sees("the name is taken")
	x.misses("ctrl+y")
	large := missions.Errorf(missions.KindConflict, "--yes", "2 GiB would be copied")
	large.Details = []byte(`{"files":1,"bytes":2147483648}`)
	s.refused = large
	x.keys("enter")
	x.calledLast(`fork 11 "" false false `)
	x.sees("2 GiB would be copied", "[ ] ctrl+y", "[ ] ctrl+n")
	x.keys("ctrl+n").sees("[x] ctrl+n")
	x.keys("ctrl+y").sees("[x] ctrl+y", "[ ] ctrl+n")
	x.keys("enter")
	x.calledLast(`fork 11 "" false true `)
	x.keys("x", "/", "no such thing", "enter", "f").misses("fork demo")
	x.send(forked{id: 99, err: s.refused})
	x.misses("2 GiB")
}

// A file is opened as it was: the one that is meant, or one that is chosen.
func TestOpen(t *testing.T) {
	s := world(4)
	id := s.logs["demo"][1].ID
	x := begin(t, s, 100, 24).keys("j", "j", "o").sees("choose a file")
	for range 20 {
		if f, ok := x.model.details.fileAt(); ok && f.Path == "greet.sh" {
			break
		}
		x.keys("j")
	}
	x.keys("o")
	if s.opened != "greet.sh false as it was\n" {
		t.Errorf("opened %q", s.opened)
	}
	if want := "cat " + id + " greet.sh"; !slices.Contains(s.calls, want) {
		t.Errorf("asked %q, want %q", s.calls, want)
	}
	x.keys("O").sees("a copy is kept")
	if s.opened != "greet.sh true as it was\n" {
		t.Errorf("opened %q", s.opened)
	}
	s.err = missions.Errorf(missions.KindDamaged, "umbra doctor", "a blob is lost")
	x.keys("o").sees("a blob is lost (umbra doctor)")
	x.send(closed{err: missions.Errorf(missions.KindFailed, "set UMBRA_PAGER", "no pager")})
	x.sees("no pager (set UMBRA_PAGER)")
}

// Which side of a difference a file is had from.
func TestSides(t *testing.T) {
	both, now := detail{before: "b", after: "a"}, detail{before: "b"}
	changed, gone, renamed := missions.FileChange{Path: "f"}, missions.FileChange{Path: "f", Type: "deleted"}, missions.FileChange{Path: "f", OldPath: "o", Type: "renamed"}
	for want, got := range map[string]func() (string, string){
		"a f": func() (string, string) { return both.sideOf(changed) },
		"b f": func() (string, string) { return both.sideOf(gone) },
		"a  f renamed": func() (string, string) {
			m, p := both.sideOf(renamed)
			return m + " ", p + " renamed"
		},
		"b o": func() (string, string) { return now.sideOf(renamed) },
	} {
		if m, p := got(); m+" "+p != want {
			t.Errorf("%s %s, want %s", m, p, want)
		}
	}
}

// What a turn took is told where it was counted, and was not cut off since.
func TestSpent(t *testing.T) {
	at := func(trigger missions.Trigger, turn int, tally *missions.Tally) missions.Entry {
		return missions.Entry{Triggers: []string{string(trigger)}, Turn: turn, Tally: tally}
	}
	tally := func(in, out int64, cost float64) *missions.Tally {
		return &missions.Tally{Input: in, Output: out, Cost: cost}
	}
	const p, i = missions.TriggerPrompt, missions.TriggerIdle
	for name, c := range map[string]struct {
		entries []missions.Entry
		from    int
		want    string
	}{
		"first":        {[]missions.Entry{at(i, 1, tally(900, 100, 0)), at(p, 1, nil)}, 0, "1k tokens"},
		"counted late": {[]missions.Entry{at(p, 2, tally(2000, 200, 0.4)), at(i, 1, tally(900, 100, 0.2)), at(p, 1, nil)}, 1, "2.2k tokens $0.40"},
		"second":       {[]missions.Entry{at(i, 2, tally(15000, 400, 1.5)), at(p, 2, tally(900, 100, 1))}, 0, "14.4k tokens $0.50"},
		"cut off":      {[]missions.Entry{at(i, 2, tally(10, 5, 0)), at(p, 2, tally(900, 100, 0))}, 0, ""},
		"unknown":      {[]missions.Entry{at(i, 2, tally(10, 5, 0)), at(p, 2, nil)}, 0, ""},
		"not all read": {[]missions.Entry{at(i, 2, tally(10, 5, 0))}, 0, ""},
	} {
		if got := spent(c.entries, c.from, len(c.entries)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for n, want := range map[int64]string{7: "7", 999: "999", 1000: "1k", 12345: "12.3k", 99940: "99.9k", 123456: "123k", 999600: "1M", 2500000: "2.5M"} {
		if got := metric(n); got != want {
			t.Errorf("%d is shown as %q, want %q", n, got, want)
		}
	}
}

// Where only what touched a path is listed, it is not known what a turn took.
func TestPathTellsNothingOfTurns(t *testing.T) {
	e := func(at time.Duration, trigger missions.Trigger, t *missions.Tally) missions.Entry {
		return missions.Entry{Mission: "m", Turn: 1, At: start.Add(at), Triggers: []string{string(trigger)}, Tally: t}
	}
	entries := []missions.Entry{e(time.Minute, missions.TriggerIdle, &missions.Tally{Input: 900, Output: 100}), e(0, missions.TriggerPrompt, nil)}
	if c := buildRows(entries, nil, filter{}, true)[0].chapter; c.spent == "" || c.lasted == 0 {
		t.Errorf("of all: %+v", c)
	}
	if c := buildRows(entries, nil, filter{path: "a"}, true)[0].chapter; c.spent != "" || c.lasted != 0 {
		t.Errorf("of a path: %+v", c)
	}
}

// Restores are drawn from where they were done to what they put back.
func TestLanes(t *testing.T) {
	s := world(3)
	demo := s.logs["demo"]
	demo[0].Triggers, demo[0].RestoredFrom, demo[0].Message = []string{"restore"}, demo[5].ID, "restore to demo@1"
	demo[2].Triggers, demo[2].RestoredFrom, demo[2].Message = []string{"undo"}, demo[6].ID, "undo to demo@1"
	demo[3].Triggers, demo[3].RestoredFrom = []string{"restore"}, "elsewhere"
	x := begin(t, s, 100, 24)
	golden(t, "lanes", x.plain()+"\n")
	x.keys("Z")
	golden(t, "laneshidden", x.plain()+"\n")
}

// What can't be read is said where it would be, and read again on demand.
func TestFailedPage(t *testing.T) {
	s := world(100)
	x := begin(t, s, 80, 24)
	n := len(x.model.list.history.entries)
	x.model.list.history.entries, x.model.list.history.done = x.model.list.history.entries[:200], false
	x.send(loaded{mission: "demo", after: x.model.list.history.entries[199].ID, err: missions.Errorf(missions.KindDamaged, "umbra doctor", "a record is lost")})
	x.model.list.rebuild()
	x.sees("a record is lost (umbra doctor)", "200 snapshots…")
	x.misses("ctrl+r reads on")
	x.keys("G").sees("✗ not read further; ctrl+r reads on")
	x.keys("ctrl+r").misses("not read further")
	if got := len(x.model.list.history.entries); got != n || !x.model.list.history.done {
		t.Errorf("%d of %d were read on", got, n)
	}
	x.keys("ctrl+r")
}

// A key costs what the screen holds, not what the history does.
func TestWorkOfAKey(t *testing.T) {
	work := func(turns int) (keys int) {
		x := begin(t, world(turns), 100, 30)
		if n := len(x.model.list.history.entries); n != 3*turns+1 {
			t.Fatalf("%d snapshots", n)
		}
		x.keys("]", "]")
		cleaned := 0
		x.model.o.Clean = func(s string) string {
			cleaned++
			return words.Clean(s)
		}
		for _, key := range []string{"j", "pgdown", "k", "J", "tab", "tab", "tab"} {
			x.keys(key)
			_ = x.model.screen()
		}
		return cleaned
	}
	few, many := work(20), work(3334)
	if many > few+few/4 {
		t.Errorf("with 10,000 snapshots keys clean %d texts, with 60 %d", many, few)
	}
	x := begin(t, world(3334), 100, 30)
	grown := testing.AllocsPerRun(20, func() {
		x.keys("j")
		_ = x.model.screen()
	})
	x = begin(t, world(34), 100, 30)
	if small := testing.AllocsPerRun(20, func() {
		x.keys("j")
		_ = x.model.screen()
	}); grown > 2*small {
		t.Errorf("with 10,000 snapshots a key allocates %.0f times, with 100 %.0f", grown, small)
	}
}

// A snapshot that comes, and a filter, cost a pass over the history at most, and ask
// for no more of it than is new.
func TestWorkOfAnArrival(t *testing.T) {
	work := func(turns int) (arrival, narrowing float64) {
		s := world(turns)
		x := begin(t, s, 100, 30)
		n, asked := 0, len(s.calls)
		arrival = testing.AllocsPerRun(5, func() {
			n++
			e := s.logs["demo"][0]
			e.ID = fmt.Sprintf("new%d", n)
			s.logs["demo"] = append([]missions.Entry{e}, s.logs["demo"]...)
			s.list[1].Head = e.ID
			x.send(tick{})
			_ = x.model.screen()
		})
		for _, call := range s.calls[asked:] {
			if strings.HasPrefix(call, "log ") && call != fmt.Sprintf("log demo %d ", firstPage) {
				t.Errorf("for a snapshot it asked %q", call)
			}
		}
		if got := len(x.model.list.history.entries); got != 3*turns+1+n {
			t.Errorf("%d snapshots are known of %d", got, 3*turns+1+n)
		}
		asked = len(s.calls)
		narrowing = testing.AllocsPerRun(5, func() {
			x.model.narrow("number 7")
			_ = x.model.screen()
		})
		if len(s.calls) != asked {
			t.Errorf("a filter asked %q", s.calls[asked:])
		}
		return arrival, narrowing
	}
	fewA, fewN := work(334)
	manyA, manyN := work(3334)
	if manyA > 12*fewA || manyN > 12*fewN {
		t.Errorf("ten times the snapshots: an arrival allocates %.0f times, not %.0f, a filter %.0f, not %.0f", manyA, fewA, manyN, fewN)
	}
}

// d against the workspace stays when a snapshot comes, and is asked for anew.
func TestCompareWithNowStays(t *testing.T) {
	s := world(4)
	id := s.logs["demo"][1].ID
	x := begin(t, s, 100, 24).keys("j", "j", "d").sees("+between", "→ now")
	e := s.logs["demo"][0]
	e.ID = "new1"
	s.logs["demo"] = append([]missions.Entry{e}, s.logs["demo"]...)
	s.list[1].Head = "new1"
	n := len(s.calls)
	x.send(tick{})
	x.sees("+between", "→ now")
	if want := "diff " + id + "  0"; !slices.Contains(s.calls[n:], want) {
		t.Errorf("after a snapshot it asked %q, not %q", s.calls[n:], want)
	}
	x.keys("esc").misses("+between")
	x.keys("d", "j").misses("→ now")
}

// Help scrolls to its end and no further.
func TestHelpScrolls(t *testing.T) {
	x := begin(t, world(1), 80, 12).keys("?").sees("more below")
	x.keys(strings.Repeat("j", 100)).sees("leave      q")
	x.misses("more below")
	x.keys(strings.Repeat("k", strings.Count(helpText, "\n"))).sees("move       j k")
	x.keys("pgdown", "x").misses("filter     /")
}

// TestHelpFits: nothing of the help is cut off where the terminal is narrow, and what each
// sign in the list means is said.
func TestHelpFits(t *testing.T) {
	for _, width := range []int{30, 52, 92} {
		var text strings.Builder
		for _, l := range (help{}).lines(nil, width) {
			drawn := ansi.Strip(l.render(width, false))
			text.WriteString(drawn + "\n")
			if strings.Contains(drawn, "…") {
				t.Errorf("%d columns: %q", width, drawn)
			}
		}
		if got, want := strings.Fields(text.String()), strings.Fields(helpText); !slices.Equal(got, want) {
			t.Errorf("%d columns:\n%s", width, text.String())
		}
	}
	for _, sign := range []string{"»", "·", "✓", "✗", "◆", "⊘", "↶", "■", "○"} {
		if !strings.Contains(helpText, sign+" ") {
			t.Errorf("what %s means is not said", sign)
		}
	}
}

// TestHeaders: a patch begins with the names of its files, and v shows Git's own lines.
func TestHeaders(t *testing.T) {
	t.Parallel()
	d := detail{
		files: []missions.FileChange{{Path: "a"}, {Path: "b"}},
		patch: highlight.Patch("diff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-was\n+is\ndiff --git a/b b/b\nold mode 100644\nnew mode 100755\n"),
	}
	for headers, want := range map[bool]string{
		false: "a|@@ -1 +1 @@|-was|+is|b|old mode 100644|new mode 100755",
		true:  "diff --git a/a b/a|index 1..2 100644|--- a/a|+++ b/a|@@ -1 +1 @@|-was|+is|diff --git a/b b/b|old mode 100644|new mode 100755",
	} {
		lines, _ := changeLines(d, nil, headers, words, highlight.Mono)
		var got []string
		for _, l := range lines[4:] { // below the list of files
			got = append(got, strings.TrimSpace(ansi.Strip(l.render(40, false))))
		}
		if text := strings.Join(got, "|"); text != want {
			t.Errorf("with headers %v it shows %s, want %s", headers, text, want)
		}
	}
	x := begin(t, world(4), 160, 40).keys("j")
	x.misses("diff --git").keys("v").sees("diff --git").keys("v").misses("diff --git")
}

// Each line of what changed belongs to its file; one whose type changed has two
// parts of a patch.
func TestFilesOfAPatch(t *testing.T) {
	d := detail{
		files: []missions.FileChange{{Path: "a", Type: "type"}, {Path: "b"}},
		patch: highlight.Patch("diff --git a/a b/a\n-was\ndiff --git a/a b/a\n+is\ndiff --git a/b b/b\n+b\n"),
	}
	_, files := changeLines(d, nil, true, words, highlight.Mono)
	if want := []int{-1, 0, 1, -1, 0, 0, 0, 0, 1, 1}; !slices.Equal(files, want) {
		t.Errorf("the lines belong to %v, want %v", files, want)
	}
}

// A patch is shown in the colours of its language, and what a changed line lies on
// reaches to the edge; an answer that was forgotten meanwhile stays so.
func TestPaintedPatch(t *testing.T) {
	x := begin(t, world(2), 140, 40).keys("j")
	added := func(p highlight.Palette) (shown string) {
		x.model.o.Palette = p
		x.model.layDetails()
		for _, l := range x.model.details.lines {
			if len(l) > 0 && strings.HasPrefix(l[0].text, "+") {
				shown = l.render(40, false)
			}
		}
		return shown
	}
	if line := added(highlight.Mono); line != "+echo hello, world                      " {
		t.Errorf("without colour the line is %q", line)
	}
	line := added(highlight.Dark)
	for _, want := range []string{"\x1b[48;5;22;1;38;5;120m+\x1b[m", "\x1b[48;5;22;38;5;153mecho\x1b[m", "\x1b[48;5;22m      "} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is not in %q", want, line)
		}
	}
	d := x.model.details.now
	x.model.details.forgetTurns()
	d.key.kind = "turn"
	x.send(painted(d))
	if _, there := x.model.details.cache[d.key.String()]; there {
		t.Error("what was forgotten is back")
	}
}
