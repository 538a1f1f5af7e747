package tui

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// waiting is a merge that waits, as the Service keeps it.
type waiting struct {
	into    string // "" for none
	open    []missions.MergedPath
	taken   []missions.MergedPath
	refused error // why the next choice is
}

func (s *service) Merge(_ context.Context, r missions.MergeRequest) (missions.MergeResult, error) {
	w := &s.merge
	s.called("merge %s into %s %v %v preview %v", r.Step, r.Into, r.Forks, r.Texts, r.Preview)
	for _, c := range r.Choices {
		s.called("%s=%s%s", c.Path, c.Take, c.Content)
	}
	switch r.Step {
	case missions.MergeBegin:
		if !r.Preview {
			w.into = r.Into
		}
	case missions.MergeResolve:
		if w.refused != nil {
			return missions.MergeResult{}, w.refused
		}
		i := slices.IndexFunc(w.open, func(q missions.MergedPath) bool { return q.Path == r.Choices[0].Path })
		q := w.open[i]
		q.Chosen = string(r.Choices[0].Take)
		w.open, w.taken = append(w.open[:i:i], w.open[i+1:]...), append(w.taken, q)
	default:
		if r.Into != w.into {
			return missions.MergeResult{}, missions.Errorf(missions.KindNotFound, "umbra merge FORK", "no merge into %s waits", r.Into)
		}
	}
	result := missions.MergeResult{Into: r.Into, From: []missions.MergeSide{{Mission: "french"}}, Conflicts: slices.Clone(w.open), Taken: slices.Clone(w.taken)}
	result.Done = r.Step == missions.MergeBegin && len(w.open) == 0
	for i := range result.Conflicts {
		if len(r.Texts) > 0 {
			result.Conflicts[i].Texts = &missions.MergeTexts{}
		}
		if len(r.Texts) > 0 && result.Conflicts[i].Path != "binary" {
			result.Conflicts[i].Texts = &missions.MergeTexts{Sides: []missions.MergeText{{Mission: "demo"}}}
		}
	}
	return result, nil
}

func conflicting(path string, severity missions.Severity, options ...missions.MergeTake) missions.MergedPath {
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
	x.keys("M").sees("merge french into demo", "1 path taken, 2 open", "> critical binary", "both changed it (demo, french)", "o  take ours", "t  take theirs")
	x.misses("plain.go").misses("take file")
	x.keys("b").sees("2 open")
	x.keys("enter").sees("there is no text at binary to be shown")
	x.keys("t").sees("binary  theirs", "> high     a.go", "1 open")
	x.keys("enter")
	if s.opened != "page sides of a.go\n" {
		t.Errorf("opened %q", s.opened)
	}
	x.keys("c").sees("merge into demo", "umbra undo takes it back", "enter does it").keys("esc", "M")
	s.merge.refused = missions.Errorf(missions.KindUsage, "take the marks out", "it has marks still")
	x.keys("k", "j", "e").sees("it has marks still (take the marks out)", "> high     a.go", "1 open")
	s.merge.refused = nil
	x.keys("e").sees("a.go  file", "Nothing is open any more: c merges.")
	x.calledLast("a.go=fileedited")
	x.keys("c", "enter").sees("umbra merge --into demo --continue")
	s.merge.into = ""
	x.keys("esc", "M").sees("merge french into demo", "merged: 0 open").keys("enter").sees("merged: 0 open", "any other key goes back")
}

// What is no merge is said; one that waits is dropped, or taken whatever its check says.
func TestMergeEnds(t *testing.T) {
	s := world(4)
	x := begin(t, s, 100, 30).keys("M").sees("no merge into demo waits (umbra merge FORK)").misses("reading")
	s.merge = waiting{into: "demo", open: []missions.MergedPath{conflicting(".", missions.SeverityCritical)}}
	x.keys("M").sees("f  take it all the same").keys("f", "enter").sees("umbra merge --into demo --continue --force")
	x.keys("esc", "M", "x").sees("drop the merge into demo", "What you have chosen goes").keys("enter").sees("umbra merge --into demo --abort")
	s.merge.open[0].Path = "a.go"
	x.keys("esc", "M", "f").sees("> critical a.go").keys("j", "j", "k", "q").misses("a.go")
	x.send(merged{id: 99})
	x.send(mergeText{id: 99})
	x.send(mergeEdited{id: 99})
	x.misses("a.go")
	s.merge.open[0].Proposal = &missions.MergeProposal{By: "codex"}
	x.keys("M").sees("codex proposes it")
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
