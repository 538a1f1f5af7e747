package tui

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// waiting is a merge that waits, as the Service keeps it.
type waiting struct {
	id, into string // "" for none
	open     []missions.MergedPath
	taken    []missions.MergedPath
	check    *missions.Check
	merger   string
	refused  error // why the next choice is
}

func (s *service) Merge(_ context.Context, r missions.MergeRequest) (missions.MergeResult, error) {
	w := &s.merge
	s.called("merge %s into %s %v %v preview %v", r.Step, r.Into, r.Forks, r.Texts, r.Preview)
	for _, c := range r.Choices {
		s.called("%s=%s%s", c.Path, c.Take, c.Content)
	}
	switch {
	case r.Step == missions.MergeBegin && r.Preview:
	case r.Step == missions.MergeBegin:
		w.id, w.into = "begun", r.Into
	case r.Into != w.into:
		return missions.MergeResult{}, missions.Errorf(missions.KindNotFound, "umbra merge FORK", "no merge into %s waits", r.Into)
	case r.Merge != "" && r.Merge != w.id:
		return missions.MergeResult{}, missions.Errorf(missions.KindConflict, "umbra merge --status", "another merge waits by now")
	case r.Step == missions.MergeResolve && w.refused != nil:
		return missions.MergeResult{}, w.refused
	}
	for _, c := range r.Choices {
		i := slices.IndexFunc(w.open, func(q missions.MergedPath) bool { return q.Path == c.Path })
		q := w.open[i]
		q.Chosen = string(c.Take)
		w.open, w.taken = append(w.open[:i:i], w.open[i+1:]...), append(w.taken, q)
	}
	result := missions.MergeResult{Into: "the target", From: []missions.MergeSide{{Mission: "french"}}, Conflicts: slices.Clone(w.open), Taken: slices.Clone(w.taken)}
	result.Check, result.ID, result.IntoID, result.Merger, result.CheckCommand = w.check, w.id, r.Into, w.merger, "make test"
	result.Done = r.Step == missions.MergeBegin && len(w.open) == 0
	for i := range result.Conflicts {
		if len(r.Texts) > 0 {
			result.Conflicts[i].Texts = &missions.MergeTexts{}
		}
		if len(r.Texts) > 0 && result.Conflicts[i].Path != "binary" {
			result.Conflicts[i].Texts.Sides = []missions.MergeText{{Mission: "demo"}}
		}
	}
	return result, nil
}

func conflicting(path missions.Path, severity missions.Severity, options ...missions.MergeTake) missions.MergedPath {
	return missions.MergedPath{Path: path, Severity: severity, Missions: []string{"demo", "french"}, Reason: "both changed it", Options: options}
}

// twoSided is a merge with two paths to settle, and one that was taken.
func twoSided() waiting {
	return waiting{
		open: []missions.MergedPath{
			conflicting("a.go", missions.SeverityHigh, missions.TakeOurs, missions.TakeTheirs, missions.TakeFile),
			conflicting("binary", missions.SeverityCritical, missions.TakeOurs, missions.TakeTheirs),
		},
		taken: []missions.MergedPath{conflicting("plain.go", missions.SeverityLow)},
	}
}

// A fork is merged: what it comes to is shown, then what is open is settled path by path,
// and the merge ends as umbra merge would end it.
func TestMerge(t *testing.T) {
	s := world(4)
	s.merge = twoSided()
	x := begin(t, s, 100, 30).keys("tab", "tab", "j", "M").sees("merge french into demo", "merged: 2 open", "enter begins, then M asks")
	x.keys("enter").sees("2 paths to settle: M shows them")
	x.calledLast("merge begin into demo [other] [] preview false")
	x.keys("M").sees("merge french into the target", "1 path taken, 2 open", "> critical binary", "both changed it (demo, french)", "o  take ours", "t  take theirs")
	x.misses("plain.go").misses("takes what Git merged")
	x.keys("b").sees("2 open")
	x.keys("enter").sees("there is no text at binary to be shown")
	x.keys("t").sees("binary  theirs", "> high     a.go", "1 open")
	x.keys("enter")
	if s.opened != "page sides of a.go\n" {
		t.Errorf("opened %q", s.opened)
	}
	x.keys("c").sees("merge into the target", "merged: 1 open", "The check runs first: make test", "umbra undo takes it back", "enter does it").keys("esc", "M")
	s.merge.refused = missions.Errorf(missions.KindUsage, "take the marks out", "it has marks still")
	x.keys("k", "j", "e").sees("it has marks still; kept a.go edited (take the marks out)", "> high     a.go", "1 open")
	s.merge.refused = nil
	x.keys("e").sees("a.go  file", "Nothing is open any more: c merges.")
	x.calledLast("a.go=fileedited")
	x.keys("c", "enter").sees("umbra merge --into demo --continue")
	s.merge.into = ""
	x.keys("esc", "M").sees("merge french into demo", "merged: 0 open").keys("enter").sees("merged: 0 open")
}

// What is no merge is said; one that waits is dropped, or taken whatever its check says.
func TestMergeEnds(t *testing.T) {
	s := world(4)
	x := begin(t, s, 100, 30).keys("M").sees("no merge into demo waits (umbra merge FORK)").misses("reading")
	bad, good := missions.NewCheck(1), missions.NewCheck(0)
	s.merge = waiting{id: "one", into: "demo", check: &bad, merger: "codex"}
	x.keys("M").sees("c checks again, f takes it all the same").keys("f").sees("though the check does not pass").misses("runs first")
	x.keys("enter").sees("umbra merge --into demo --continue --force")
	x.keys("esc", "M", "c").sees("codex is asked first").keys("esc")
	s.merge.check = &good
	x.keys("M", "f").sees("c merges").keys("x").sees("drop the merge into the target", "merged: 0 open", "What you have chosen goes")
	x.keys("enter").sees("umbra merge --into demo --abort")
	s.merge.open = []missions.MergedPath{conflicting("a.go", missions.SeverityHigh)}
	s.merge.open[0].Proposal = &missions.MergeProposal{By: "codex"}
	x.keys("esc", "M").sees("codex proposes it").keys("j", "j", "k").sees("> high     a.go").keys("q").misses("a.go")
}

// All that Git merged is taken at once, and nothing beside it.
func TestMergeAll(t *testing.T) {
	s := world(4)
	s.merge = twoSided()
	s.merge.into = "demo"
	merged := []missions.MergeTake{missions.TakeOurs, missions.TakeMerged}
	s.merge.open = append(s.merge.open, conflicting("m1", missions.SeverityMedium, merged...), conflicting("m2", missions.SeverityMedium, merged...),
		conflicting("m3", missions.SeverityCritical, merged...))
	begin(t, s, 100, 30).keys("M").sees("takes what Git merged, of 2 paths").keys("a").sees("3 open", "m1  merged", "m2  merged").keys("a").sees("3 open")
}

// What arrives late, or of a merge that is there no more, changes nothing; and no text is lost.
func TestMergeLate(t *testing.T) {
	s := world(4)
	s.merge = twoSided()
	s.merge.id, s.merge.into = "one", "demo"
	x := begin(t, s, 100, 30).keys("M").sees("2 open")
	x.send(merged{id: 99})
	x.send(mergeText{id: 99, err: missions.Errorf(missions.KindFailed, "", "late")})
	x.sees("2 open").misses("late")
	x.send(mergeEdited{id: 99, path: "a.go", content: []byte("mine")})
	x.sees("2 open", "kept a.go mine")
	x.model.o.EditMerged = func(missions.MergedPath) ([]byte, error) {
		return nil, missions.Errorf(missions.KindFailed, "set EDITOR", "no editor")
	}
	x.keys("j", "e").sees("no editor (set EDITOR)", "2 open")
	x.model.o.release = func(_ tea.ExecCommand, then tea.ExecCallback) tea.Cmd {
		return func() tea.Msg { return then(missions.Errorf(missions.KindFailed, "", "no terminal")) }
	}
	x.keys("e").sees("no terminal", "2 open")
	s.merge.id = "two"
	x.keys("o").sees("another merge waits by now").misses("2 open")
	x.keys("M", "x").sees("drop the merge")
	s.merge.id = "three"
	x.keys("enter").sees("another merge waits by now").misses("--abort")
}

func mergeAnswers(_ missions.MergeResult, q missions.MergedPath) (all []MergeAnswer) {
	for _, option := range q.Options {
		all = append(all, MergeAnswer{Key: map[missions.MergeTake]string{missions.TakeFile: "e"}[option], Text: "take " + string(option), Take: option})
		if last := &all[len(all)-1]; last.Key == "" {
			last.Key = string(option)[:1]
		}
	}
	return all
}

func endMerge(_ context.Context, into string, flags ...string) []string {
	return []string{"umbra merge --into " + into + " " + strings.Join(flags, " ")}
}
