package history

import (
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// drawn is a graph, a snapshot a line.
func drawn(list []missions.Entry, family []missions.Mission) string {
	g := newGraph(list, family)
	var lines []string
	for _, e := range list {
		lane, above := g.next(e.ID)
		lines = append(append(lines, above...), lane+" "+e.ID)
	}
	return strings.Join(lines, "\n")
}

// history makes entries of "id<parent", newest first; a mission is the id's letter.
func historyOf(words ...string) []missions.Entry {
	var list []missions.Entry
	for _, w := range words {
		id, parent, _ := strings.Cut(w, "<")
		list = append(list, missions.Entry{ID: id, Parent: parent, Mission: id[:1]})
	}
	return list
}

// TestGraph: forks are lanes down to where they forked.
func TestGraph(t *testing.T) {
	t.Parallel()
	forks := []missions.Mission{
		{ID: "a"}, {ID: "b", Parent: &missions.Parent{Mission: "a"}},
		{ID: "c", Parent: &missions.Parent{Mission: "a"}}, {ID: "d", Parent: &missions.Parent{Mission: "b"}},
	}
	for name, tt := range map[string]struct {
		list []missions.Entry
		want string
	}{
		"one":   {historyOf("a2<a1", "a1"), "* a2\n* a1"},
		"fork":  {historyOf("a3<a2", "b1<a1", "a2<a1", "a1"), "* a3\n│ * b1\n* │ a2\n├─╯\n* a1"},
		"two":   {historyOf("a2<a1", "c1<a1", "b1<a1", "a1"), "* a2\n│ * c1\n│ │ * b1\n├─┴─╯\n* a1"},
		"cross": {historyOf("a3<a2", "b1<a2", "c1<a1", "a2<a1", "a1"), "* a3\n│ * b1\n│ │ * c1\n├─╯ │\n*   │ a2\n├───╯\n* a1"},
		// What is left out in between: the mission's next, or the source's.
		"left out":       {historyOf("a9<a8", "b5<b4", "b2<b1", "a1"), "* a9\n│ * b5\n│ * b2\n├─╯\n* a1"},
		"not to the end": {historyOf("a9<a8", "b5<b4"), "* a9\n│ * b5"},
		"fork of a fork": {historyOf("d2<d1", "b2<b1", "a1"), "* d2\n* b2\n* a1"},
		"unrelated":      {historyOf("a2<a1", "x1", "a1"), "* a2\n│ * x1\n* a1"},
	} {
		if got := drawn(tt.list, forks); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, tt.want)
		}
	}
}

// TestLogFits: the wider the terminal the more is told, and no line is cut that
// need not be.
func TestLogFits(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 16, 30, 0, 0, time.UTC)
	list := []missions.Entry{
		{ID: strings.Repeat("a", 40), Parent: "b", Address: "login@3", Turn: 3, Mission: "m", State: missions.StateIdle, At: at.Add(90 * time.Second),
			Triggers: []string{"idle"}, Message: "turn ended", Files: missions.FileCounts{Modified: 1}, Lines: &missions.LineCounts{Added: 12, Deleted: 3}},
		{ID: strings.Repeat("b", 40), Parent: "c", Address: "login@3.0", Turn: 3, Mission: "m", State: missions.StateRunning, At: at,
			Triggers: []string{"prompt"}, Message: "prompt", Prompt: "改善 the résumé parser,\nits tests and whatever else is left of the plan"},
		{ID: strings.Repeat("c", 40), Address: "login@start", Mission: "m", State: missions.StateError, At: at, Triggers: []string{"manual"},
			Message: "mission login begins", Files: missions.FileCounts{Added: 4511}, Lines: &missions.LineCounts{Added: 1475131}},
	}
	for width, want := range map[int]string{
		40: `turn 3  改善 the résumé parser, ⏎ its …
  login@3      8m ago   +12 −3
    turn ended
  login@3.0    10m ago  -
    before the prompt

turn 0
  login@start  10m ago  +1.5M −0 4511 …
    mission login begins (error)
`,
		60: `turn 3  改善 the résumé parser, ⏎ its tests and wha…  1m30s
  login@3      8m ago   +12 −3              turn ended
  login@3.0    10m ago  -                   before the pro…

turn 0
  login@start  10m ago  +1.5M −0 4511 files  mission login…
`,
		100: `turn 3  改善 the résumé parser, ⏎ its tests and whatever else is left of the plan  1m30s
  login@3      aaaaaaaaaa  8m ago   +12 −3              turn ended
  login@3.0    bbbbbbbbbb  10m ago  -                   before the prompt

turn 0
  login@start  cccccccccc  10m ago  +1.5M −0 4511 files  mission login begins (error)
`,
	} {
		if got := calltest.Printed(width, func(p *print.Printer) { writeLog(p, list, logOptions{}) }); got != want {
			t.Errorf("%d columns:\n%s\nwant:\n%s", width, got, want)
		}
	}
	for _, width := range []int{20, 40, 80, 129, 130, 200} {
		for line := range strings.Lines(calltest.Printed(width, func(p *print.Printer) { writeLog(p, list, logOptions{}) })) {
			if n := print.Columns(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
	}
	got := calltest.Printed(0, func(p *print.Printer) { writeLog(p, list, logOptions{}) })
	if !strings.Contains(got, "whatever else is left of the plan\n") || !strings.Contains(got, "  running  prompt  ") {
		t.Errorf("off a terminal:\n%s", got)
	}
}

// TestLogHeadings: a turn of which the beginning is not listed is headed by its prompt
// all the same, and that comes before what the turn took.
func TestLogHeadings(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 16, 30, 0, 0, time.UTC)
	list := []missions.Entry{
		{ID: "a", Parent: "b", Address: "m@2", Turn: 2, Mission: "m", At: at, Triggers: []string{"idle"}, Message: "turn ended", Prompt: "write the\x1b parser", Tally: &missions.Tally{Prompts: 2, Tools: 123, Input: 1234567}},
		{ID: "b", Address: "m@1", Turn: 1, Mission: "m", At: at, Triggers: []string{"idle"}, Message: "turn ended", Tally: &missions.Tally{Prompts: 1}},
	}
	for width, want := range map[int]string{80: "turn 2  write the\\x1b parser  123 tools, 1.2M tokens\n", 30: "turn 2  write the\\x1b parser\n", 20: "turn 2  write the\\…\n"} {
		if got, _, _ := strings.Cut(calltest.Printed(width, func(p *print.Printer) { writeLog(p, list, logOptions{}) }), "  m@2"); got != want {
			t.Errorf("%d columns: %q, want %q", width, got, want)
		}
	}
}

// TestTakenBackTurns: a turn that is taken back is marked in its heading, whatever came
// after it that is not, and one that is taken back in part in its rows.
func TestTakenBackTurns(t *testing.T) {
	t.Parallel()
	list := []missions.Entry{
		{Address: "m@2.3", Turn: 2, Mission: "m", Triggers: []string{"manual"}, Message: "before the restore", TurnTakenBack: true},
		{Address: "m@2", Turn: 2, Mission: "m", Triggers: []string{"idle"}, Message: "turn ended", TakenBack: true, TurnTakenBack: true},
		{Address: "m@1", Turn: 1, Mission: "m", Triggers: []string{"idle"}, Message: "turn ended", TakenBack: true},
		{Address: "m@1.0", Turn: 1, Mission: "m", Triggers: []string{"prompt"}, Message: "prompt"},
	}
	got := calltest.Printed(0, func(p *print.Printer) { writeLog(p, list, logOptions{}) })
	for _, want := range []string{"turn 2 (taken back)\n", "turn ended (taken back)\n", "turn 1\n"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not once in:\n%s", want, got)
		}
	}
}

// TestChosenLogSaysNothingOfTurns: what a turn took is told of where all of its
// snapshots are listed, and not where some were chosen.
func TestChosenLogSaysNothingOfTurns(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 31, 16, 30, 0, 0, time.UTC)
	entry := func(turn, tools int) missions.Entry {
		return missions.Entry{ID: strings.Repeat("a", 40), Parent: strings.Repeat("a", 40), Turn: turn, Mission: "m", At: at, Tally: &missions.Tally{Prompts: turn, Tools: tools}}
	}
	list := []missions.Entry{entry(3, 9), entry(2, 4)}
	for name, o := range map[string]logOptions{"path": {path: "a"}, "grep": {match: "a"}, "state": {state: "idle"}, "ops": {ops: true}} {
		for _, width := range []int{0, 80} {
			if got := calltest.Printed(width, func(p *print.Printer) { writeLog(p, list, o) }); strings.Contains(got, "tool") {
				t.Errorf("--%s:\n%s", name, got)
			}
		}
	}
	got := calltest.Printed(0, func(p *print.Printer) { writeLog(p, list, logOptions{}) })
	if !strings.Contains(got, "5 tools") {
		t.Errorf("all of them:\n%s", got)
	}
}

// TestStatFits: of a path that is too long its end is shown, and the counts always.
func TestStatFits(t *testing.T) {
	t.Parallel()
	files := []missions.FileChange{{Path: strings.Repeat("深い/", 30) + "end.go", Type: "modified", Added: 3}, {Path: "new", OldPath: "old", Type: "renamed"}}
	got := calltest.Printed(40, func(p *print.Printer) { writeStat(p, files) })
	for _, want := range []string{"…", "い/end.go  +3 −0\n", "R  old → new"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if n := print.Columns(strings.TrimSuffix(line, "\n")); n > 40 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestWordDiff(t *testing.T) {
	t.Parallel()
	for patch, want := range map[string]string{
		"@@ -1 +1 @@\n-Hello, world\n+Hello, Ada\n": "@@ -1 +1 @@\nHello, [-world-]{+Ada+}\n",
		"@@ -1,2 +1,2 @@\n same\n-a b c\n+a c\n":    "@@ -1,2 +1,2 @@\nsame\na [-b -]c\n",
		"@@ -0,0 +1,2 @@\n+one\n+\n+two\n":          "@@ -0,0 +1,2 @@\n{+one+}\n\n{+two+}\n",
		"@@ -1,2 +0,0 @@\n-x\n-y\n":                 "@@ -1,2 +0,0 @@\n[-x-]\n[-y-]\n",
		// Lines of a file may look like a patch's own.
		"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- a\n+++ a\n": "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n[----]{++++} a\n",
		"@@ -1 +1 @@\n-é\n\\ No newline at end of file\n+è\n":               "@@ -1 +1 @@\n[-é-]{+è+}\n",
	} {
		if got := calltest.Printed(0, func(p *print.Printer) { writeWords(p, patch) }); got != want {
			t.Errorf("%q is shown as\n%q, want\n%q", patch, got, want)
		}
	}
	long := strings.Repeat("- a, b\n", 1000) + strings.Repeat("+ c. d\n", 1000)
	got := calltest.Printed(0, func(p *print.Printer) { writeWords(p, "@@ -1 +1 @@\n"+long) })
	if strings.Count(got, "a") != 1000 || strings.Count(got, "d") != 1000 {
		t.Error("words of a large change are lost")
	}
}
