package merges

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// fake is a merge that waits for choices.
type fake struct {
	missions.Service
	open    []missions.MergedPath
	chosen  []string
	aborted bool
}

func (f *fake) Merge(_ context.Context, r missions.MergeRequest) (missions.MergeResult, error) {
	for _, c := range r.Choices {
		f.chosen = append(f.chosen, string(c.Path)+"="+string(c.Take))
		for i, q := range f.open {
			if q.Path == c.Path {
				f.open = append(f.open[:i:i], f.open[i+1:]...)
				break
			}
		}
	}
	result := missions.MergeResult{Into: "one", Taken: []missions.MergedPath{}, Conflicts: []missions.MergedPath{}}
	for _, q := range f.open {
		q.Texts = &missions.MergeTexts{Merged: []byte("text\n"), Sides: []missions.MergeText{{Mission: "one"}, {Mission: "fa"}}}
		result.Conflicts = append(result.Conflicts, q)
	}
	f.aborted = r.Step == missions.MergeAbort
	result.Aborted, result.Done = f.aborted, len(f.open) == 0 && r.Step == missions.MergeContinue
	return result, nil
}

// askMerge runs umbra merge on a terminal where somebody types lines.
func askMerge(t *testing.T, f *fake, typed string, globals call.Globals) (said string, err error) {
	t.Helper()
	return askMergeBy(t, f, "", typed, globals)
}

// askMergeBy does it with an editor that adds lines.
func askMergeBy(t *testing.T, f *fake, lines, typed string, globals call.Globals) (said string, err error) {
	t.Helper()
	b := calltest.New(t, f)
	b.Env.Stdin = iotest.OneByteReader(strings.NewReader(typed)) // a terminal gives a line at a time
	b.Env.IsTerminal = func(any) bool { return true }
	b.Env.Run = func(cmd *exec.Cmd) error {
		file := cmd.Args[len(cmd.Args)-1]
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(file, append(content, lines...), 0o600)
	}
	c := &call.Call{Env: b.Env, Globals: globals, Arguments: []string{"fa"}}
	err = c.Do(func(c *call.Call) error { return runMerge(c, mergeOptions{}) })
	return b.Stderr.String(), err
}

func path(name missions.Path, severity missions.Severity, options ...missions.MergeTake) missions.MergedPath {
	return missions.MergedPath{Path: name, Severity: severity, Missions: []string{"one", "fa", "fb"}, Reason: "changed", Options: options}
}

// TestAnswers: each answer takes what it says, a number the mission that it stands beside,
// and one of them all that Git merged. What is no answer is asked again, and skips nothing.
func TestAnswers(t *testing.T) {
	t.Parallel()
	several := path("several", missions.SeverityHigh, missions.TakeOurs, "fa", "fb", missions.TakeBoth, missions.TakeFile)
	merged := func(name missions.Path) missions.MergedPath {
		return path(name, missions.SeverityMedium, missions.TakeMerged, missions.TakeOurs, missions.TakeTheirs, missions.TakeFile)
	}
	for typed, want := range map[string]string{
		"2\na\nc\n":           "several=fb m1=merged m2=merged",
		"o\ng\nt\nc\n":        "several=ours m1=merged m2=theirs",
		"b\np\n":              "several=both",
		"s\na\n":              "m1=merged m2=merged",
		"nonsense\no\n\ng\n":  "several=ours m2=merged",
		"1\ngit\np\no\nq\n":   "several=fa m1=merged m1=ours",
		"":                    "",
		"q\n":                 "",
		"both\ngit\ngit\nc\n": "several=both m1=merged m2=merged",
	} {
		f := &fake{open: []missions.MergedPath{several, merged("m1"), merged("m2")}}
		said, err := askMerge(t, f, typed, call.Globals{})
		if got := strings.Join(f.chosen, " "); got != want {
			t.Errorf("%q has chosen %q, want %q: %v\n%s", typed, got, want, err, said)
		}
		if err != nil && missions.AsError(err).Kind != missions.KindConflict || (err == nil) != (len(f.open) == 0 && strings.HasSuffix(typed, "c\n")) {
			t.Errorf("%q ends with %v", typed, err)
		}
	}
}

// TestAllOfTheRest: "all" takes this path and those after it that are still open. What its
// user has chosen or skipped before going back stays so.
func TestAllOfTheRest(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"a\nc\n":             "m1=merged m2=merged m3=merged",
		"s\no\np\np\na\nc\n": "m2=ours m1=merged m3=merged",
		"s\ns\np\np\na\n":    "m1=merged m3=merged",
		"o\np\na\nc\n":       "m1=ours m1=merged m2=merged m3=merged",
	} {
		f := &fake{}
		for _, name := range []string{"m1", "m2", "m3"} {
			f.open = append(f.open, path(missions.Path(name), missions.SeverityMedium, missions.TakeMerged, missions.TakeOurs, missions.TakeTheirs))
		}
		said, err := askMerge(t, f, typed, call.Globals{})
		if got := strings.Join(f.chosen, " "); got != want {
			t.Errorf("%q has chosen %q, want %q: %v\n%s", typed, got, want, err, said)
		}
	}
}

// TestUnchangedEdit: a file that is left as the editor was given it chooses nothing.
func TestUnchangedEdit(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]string{"": "", "more\n": "several=file"} {
		f := &fake{open: []missions.MergedPath{path("several", missions.SeverityHigh, missions.TakeOurs, missions.TakeTheirs, missions.TakeFile)}}
		said, err := askMergeBy(t, f, lines, "e\nq\n", call.Globals{})
		if got := strings.Join(f.chosen, " "); got != want {
			t.Errorf("an edit of %q has chosen %q, want %q: %v\n%s", lines, got, want, err, said)
		}
		if open := strings.Contains(said, "several is as open as before: nothing was changed"); open != (want == "") {
			t.Errorf("after an edit of %q it is said: %s", lines, said)
		}
	}
}

// TestConflictLines: the lines of all sides in conflict are shown, whichever marks are around
// or between which.
func TestConflictLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"none":    {"a\n<<<<<<<\nb\n", ""},
		"one":     {"a\n<<<<<<< o\nb\n=======\nc\n>>>>>>> t\nd\n", "<<<<<<< o|b|=======|c|>>>>>>> t"},
		"apart":   {"<<<<<<< o\nb\n>>>>>>> t\nd\n<<<<<<<< o\ne\n>>>>>>>> u\nf\n", "<<<<<<< o|b|>>>>>>> t|<<<<<<<< o|e|>>>>>>>> u"},
		"around":  {"<<<<<<<< o\n<<<<<<< o\nb\n>>>>>>> t\n========\ne\n>>>>>>>> u\nf\n", "<<<<<<<< o|<<<<<<< o|b|>>>>>>> t|========|e|>>>>>>>> u"},
		"between": {"<<<<<<< o\n<<<<<<<< o\nb\n>>>>>>>> u\nc\n>>>>>>> t\nd\n", "<<<<<<< o|<<<<<<<< o|b|>>>>>>>> u|c|>>>>>>> t"},
	} {
		if got := strings.Join(conflictLines([]byte(c.text)), "|"); got != c.want {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

// TestNobodyIsAsked where --yes or --json was said.
func TestNobodyIsAsked(t *testing.T) {
	t.Parallel()
	for _, globals := range []call.Globals{{Yes: true}, {JSON: true}} {
		said, err := askMerge(t, &fake{open: []missions.MergedPath{path("a", missions.SeverityHigh, missions.TakeOurs)}}, "o\n", globals)
		if err == nil || strings.Contains(said, "What becomes") {
			t.Errorf("%+v: %v, %s", globals, err, said)
		}
	}
}

// TestManyPaths: a list of paths has an end, and no path is missing in it that somebody chose
// or has to choose.
func TestManyPaths(t *testing.T) {
	t.Parallel()
	b := calltest.New(t, &fake{})
	r := missions.MergeResult{Into: "one", Done: true, Restore: &missions.RestoreResult{}}
	for n := range 1000 {
		r.Taken = append(r.Taken, path(missions.Path(fmt.Sprint("low", n)), missions.SeverityLow))
	}
	r.Taken[999].Path, r.Taken[999].Chosen = "last", "ours"
	r.Conflicts = []missions.MergedPath{path("open", missions.SeverityHigh)}
	c := &call.Call{Env: b.Env}
	calltest.Must(t, c.Do(func(c *call.Call) error { return c.Print(r, func(p *print.Printer) { WriteResult(p, r) }) }))
	said := b.Stdout.String()
	if !strings.Contains(said, "… and 979 more paths of severity low, which --json lists") || !strings.Contains(said, "  last ") || !strings.Contains(said, "  open ") ||
		strings.Count(said, "\n") > 30 {
		t.Errorf("it is said: %s", said)
	}
}

// TestProposalsStay: what an agent has written for a merge is removed once it is taken over,
// and not before; and a merge that has ended is forgotten after that.
func TestProposalsStay(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]error{"taken over": nil, "not taken over": missions.Errorf(missions.KindBusy, "", "busy")} {
		f := &fakeMerger{fails: fails}
		b := calltest.New(t, f)
		c := &call.Call{Env: b.Env, Arguments: []string{"fa"}}
		err := c.Do(func(c *call.Call) error { return runMerge(c, mergeOptions{}) })
		want := []string{"merger", "the merge"}
		if fails != nil {
			want = nil
		}
		if (err != nil) != (fails != nil) || !slices.Equal(f.removed, want) {
			t.Errorf("%s: removed %q, want %q: %v", name, f.removed, want, err)
		}
	}
}

// fakeMerger is a merge whose agent has written what it proposes.
type fakeMerger struct {
	missions.Service
	fails   error // when that is to be taken over
	removed []string
}

func (f *fakeMerger) Merge(_ context.Context, r missions.MergeRequest) (missions.MergeResult, error) {
	if r.Leave {
		f.removed = append(f.removed, "the merge")
	}
	code, result := 0, missions.MergeResult{Into: "one", Taken: []missions.MergedPath{}, Conflicts: []missions.MergedPath{}}
	switch r.Step {
	case missions.MergeProposed:
		result.Done, result.Left = true, []missions.Mission{{ID: "merger", Name: "merger", State: missions.StateClosed}}
		return result, f.fails
	case missions.MergePropose:
		result.Scratch = &missions.Mission{ID: "merger", Name: "merger", State: missions.StateClosed, ExitCode: &code}
	}
	result.Merger = "claude"
	return result, nil
}

func (f *fakeMerger) Mission(context.Context, missions.MissionRequest) (missions.Mission, error) {
	return missions.Mission{}, nil
}

func (f *fakeMerger) Diff(context.Context, missions.DiffRequest) (missions.Difference, error) {
	return missions.Difference{}, nil
}

func (f *fakeMerger) Remove(_ context.Context, r missions.RemoveRequest) (missions.RemoveResult, error) {
	f.removed = append(f.removed, r.Missions...)
	return missions.RemoveResult{}, nil
}

// fakeTwo is a mission into which another merge waits once paths are chosen.
type fakeTwo struct {
	missions.Service
	asked []missions.MergeRequest
}

func (f *fakeTwo) Merge(_ context.Context, r missions.MergeRequest) (missions.MergeResult, error) {
	f.asked = append(f.asked, r)
	result := missions.MergeResult{Into: "one", Taken: []missions.MergedPath{}, Conflicts: []missions.MergedPath{}, MergeTrial: missions.MergeTrial{ID: "first"}}
	result.Done = r.Step == missions.MergeContinue
	return result, nil
}

// TestGoesOnWithItsOwn: --resolve with --continue ends the merge in which it has chosen, and no
// other one that has begun in between.
func TestGoesOnWithItsOwn(t *testing.T) {
	t.Parallel()
	f := &fakeTwo{}
	b := calltest.New(t, f)
	var o mergeOptions
	o.goesOn = true
	calltest.Must(t, o.resolve.Set("a=ours"))
	c := &call.Call{Env: b.Env}
	calltest.Must(t, c.Do(func(c *call.Call) error { return runMerge(c, o) }))
	if len(f.asked) != 2 || f.asked[0].Step != missions.MergeResolve || f.asked[0].Merge != "" || len(f.asked[0].Choices) != 1 {
		t.Fatalf("asked %+v", f.asked)
	}
	if last := f.asked[1]; last.Step != missions.MergeContinue || last.Merge != "first" || last.Into != "one" || len(last.Choices) > 0 {
		t.Errorf("it goes on with %+v", last)
	}
}

// TestWriteTexts: of a side that has no text at a path it is said why.
func TestWriteTexts(t *testing.T) {
	t.Parallel()
	b := calltest.New(t, &fake{})
	q := path("a", missions.SeverityCritical)
	q.Texts = &missions.MergeTexts{Sides: []missions.MergeText{
		{Mission: "gone", Deleted: true}, {Mission: "none", Absent: true}, {Mission: "same"}, {Mission: "new", Patch: "+text\n"},
	}}
	c := &call.Call{Env: b.Env}
	calltest.Must(t, c.Do(func(c *call.Call) error { return c.Print(q, func(p *print.Printer) { WriteTexts(p, q) }) }))
	want := "gone has deleted it\nnone has nothing there\nsame has it as it was before\n+text\n"
	if said := b.Stdout.String(); said != want {
		t.Errorf("it is said: %q, want %q", said, want)
	}
}
