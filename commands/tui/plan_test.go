package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// words stand in for those of the command line.
var words = Words{
	Clean: func(s string) string { return strings.ReplaceAll(s, "\x1b", "^") },
	Path:  func(path string) string { return path },
	Place: func(path string) string { return path },
	Count: func(n int, noun string) string {
		if n == 1 {
			return "1 " + noun
		}
		return fmt.Sprintf("%d %ss", n, noun)
	},
	Short: func(id string) string { return id[:min(len(id), 10)] },
	Plan: func(did string, r missions.RestoreResult) []string {
		lines := []string{did + " would:"}
		if r.Done {
			lines = []string{did + " done"}
		}
		for _, path := range slices.Concat(r.Modify, r.Create, r.Delete) {
			lines = append(lines, "  change  "+path)
		}
		for _, f := range r.Foreign {
			lines = append(lines, "  others  "+f.Path)
		}
		for _, e := range r.Refused {
			lines = append(lines, "it would be refused: "+e.Message)
		}
		return lines
	},
	Promoted: func(r missions.PromoteResult) []string {
		return []string{fmt.Sprintf("promote of %s, done %v", r.FromName, r.Done)}
	},
	Differences: func(forks []missions.ComparedFork) []string {
		return []string{forks[0].Mission + " " + forks[1].Mission}
	},
	Forked: func(r missions.ForkResult) []string { return []string{"forked: " + r.Missions[0].Name} },
	Removed: func(r missions.RemoveResult, what string) []string {
		return []string{r.Missions[0].Name + " " + what}
	},
	Reported: func(r missions.ReportResult) []string {
		return []string{r.Update.From + " reports: " + r.Update.Text}
	},
	Merged: func(r missions.MergeResult) []string {
		return []string{fmt.Sprintf("merged: %d open", len(r.Conflicts))}
	},
	MergeAnswers:  mergeAnswers,
	MergeTexts:    func(q missions.MergedPath) []string { return []string{"sides of " + string(q.Path)} },
	MergeProposal: func(p missions.MergeProposal) string { return p.By + " proposes it" },
}

func (s *service) Restore(_ context.Context, r missions.RestoreRequest) (missions.RestoreResult, error) {
	what := ""
	for _, flag := range []struct {
		word string
		is   bool
	}{
		{"files", r.FilesOnly}, {"talk", r.ConversationOnly}, {"keep-others", r.KeepOthers}, {"all", r.All},
		{"when-idle", r.WhenIdle}, {"force", r.Force},
	} {
		if flag.is {
			what += " " + flag.word
		}
	}
	what += strings.Join(append([]string{""}, r.Paths...), " ")
	return s.act("restore "+r.Moment[len(r.Moment)-2:]+" of "+r.Mission+what, r.Preview, r.Force || r.WhenIdle, r.KeepOthers || r.All)
}

func (s *service) Undo(_ context.Context, r missions.UndoRequest) (missions.RestoreResult, error) {
	return s.act("undo of "+r.Mission, r.Preview, r.Force, false)
}

func (s *service) Redo(_ context.Context, r missions.UndoRequest) (missions.RestoreResult, error) {
	return s.act("redo of "+r.Mission, r.Preview, r.Force, false)
}

// act notes what was asked for. What refuses it is overridden as the Service has it.
func (s *service) act(what string, preview, force, whose bool) (missions.RestoreResult, error) {
	if preview {
		what += " (plan)"
	}
	s.called("%s", what)
	r := s.plan
	r.Mission, r.Target, r.Done = "demo", "target", !preview
	r.Refused = slices.DeleteFunc(slices.Clone(r.Refused), func(e *missions.Error) bool {
		return force && e.Kind == missions.KindBusy || whose && e.Kind == missions.KindConflict
	})
	if !preview && s.refused != nil {
		return missions.RestoreResult{}, s.refused
	}
	return r, nil
}

// last is what was asked for last that acts.
func (s *service) last() string {
	for _, c := range slices.Backward(s.calls) {
		if word, _, _ := strings.Cut(c, " "); word == "restore" || word == "undo" || word == "redo" {
			return c
		}
	}
	return ""
}

func (x *session) asked(want string) {
	x.Helper()
	if got := x.model.o.Service.(*service).last(); got != want {
		x.Errorf("asked %q, want %q", got, want)
	}
}

// A restore is planned, and done only when enter is typed on the plan.
func TestRestore(t *testing.T) {
	s := world(4)
	s.plan = missions.RestoreResult{Modify: []string{"greet.sh"}, Handover: &missions.Handover{How: "resume"}}
	x := begin(t, s, 100, 24).keys("j", "j", "enter")
	x.asked("restore 11 of demo (plan)")
	x.sees("restore demo to demo@4", "[files and conversation]", "restore would:", "change  greet.sh", "enter does it")
	x.keys("z", "p", "d").sees("restore would:")
	x.asked("restore 11 of demo (plan)")
	x.keys("esc").misses("would")
	x.asked("restore 11 of demo (plan)")
	x.keys("enter", "tab")
	x.asked("restore 11 of demo files (plan)")
	x.sees("[files]")
	x.keys("tab")
	x.asked("restore 11 of demo talk (plan)")
	x.keys("tab").sees("[files and conversation]")
	x.misses("marked paths")
	x.keys("enter")
	x.asked("restore 11 of demo")
	x.sees("restore done")
	x.keys("esc").misses("restore done")
}

// Paths that were marked among the changes are restored alone.
func TestRestoreMarkedPaths(t *testing.T) {
	s := world(4)
	s.plan = missions.RestoreResult{Modify: []string{"greet.sh"}}
	x := begin(t, s, 100, 24).keys("j", "j", "tab", "space").sees("no file is on this line")
	for range 20 {
		if f, ok := x.model.details.fileAt(); ok && f.Path == "greet.sh" {
			break
		}
		x.keys("j")
	}
	x.keys("space").sees("M*greet.sh")
	x.keys("enter").sees("[marked paths (1)]")
	x.asked("restore 11 of demo greet.sh (plan)")
	x.keys("enter")
	x.asked("restore 11 of demo greet.sh")
	x.keys("space").misses("M*greet.sh")
	x.keys("space", "esc").misses("M*greet.sh")
	x.keys("G", "space")
	if got := x.model.details.marked; !slices.Equal(got, []string{"greet.sh"}) {
		t.Errorf("in the patch of greet.sh %q is marked", got)
	}
	x.keys("tab", "tab", "j").keys("enter").misses("marked paths")
}

// What stands in the way is said with the plan, and passed over by a key of its own.
func TestRestoreRefused(t *testing.T) {
	s := world(4)
	busy := missions.Errorf(missions.KindBusy, "wait", "demo is in turn 4")
	s.plan = missions.RestoreResult{
		Modify: []string{"greet.sh"}, Foreign: []missions.PathReason{{Path: "theirs.txt", Reason: "changed"}},
		Refused: []*missions.Error{busy, missions.Errorf(missions.KindConflict, "choose", "1 path was changed by others")},
	}
	x := begin(t, s, 100, 24).keys("j", "j", "enter")
	x.sees("theirs.txt", "it would be refused: demo is in turn 4", "o  keeps what others changed", "a  puts these back too", "w  waits for the end", "F  does it all the same")
	x.keys("enter").sees("something stands in the way")
	x.asked("restore 11 of demo (plan)")
	x.keys("o").sees("with others' changes kept as they are")
	x.asked("restore 11 of demo keep-others (plan)")
	x.keys("a", "w", "enter")
	if got := s.last(); !strings.Contains(got, " all") || !strings.Contains(got, " when-idle") || strings.Contains(got, "plan") {
		t.Errorf("asked %q", got)
	}
	x.keys("enter", "a", "F").sees("with force, others' changes put back too")
	x.keys("F", "a").keys("enter").sees("something stands in the way")
}

// An error is shown with what to do, and the plan is made anew before it is tried again.
func TestRestoreFails(t *testing.T) {
	s := world(4)
	s.plan = missions.RestoreResult{Delete: []string{"a"}}
	s.refused = missions.Errorf(missions.KindFailed, "free some space", "the disk is full")
	x := begin(t, s, 100, 24).keys("j", "j", "enter", "enter")
	x.sees("the disk is full", "free some space", "enter plans it again")
	x.keys("enter").misses("the disk is full")
	x.asked("restore 11 of demo (plan)")
	x.keys("esc", "esc").misses("would")
}

// Nothing to do is said, and not done.
func TestRestoreOfNothing(t *testing.T) {
	s := world(4)
	x := begin(t, s, 100, 24).keys("j", "j", "enter", "enter").sees("there is nothing to change")
	x.asked("restore 11 of demo (plan)")
	x.keys("/", "no such thing", "enter", "enter").misses("would")
}

func TestUndoAndRedo(t *testing.T) {
	s := world(4)
	s.plan = missions.RestoreResult{Create: []string{"a"}, Refused: []*missions.Error{missions.Errorf(missions.KindBusy, "wait", "in a turn")}}
	x := begin(t, s, 100, 24).keys("u")
	x.asked("undo of demo (plan)")
	x.sees("undo of demo", "undo would:")
	x.misses("put back")
	x.keys("tab", "enter").sees("something stands in the way")
	x.keys("F", "enter")
	x.asked("undo of demo")
	s.plan.Refused = nil
	x.keys("U", "enter")
	x.asked("redo of demo")
	x.sees("redo done")
}

// While it is being done nothing else is, and a plan that comes late is for
// nobody.
func TestPlanLate(t *testing.T) {
	s := world(4)
	s.plan = missions.RestoreResult{Create: []string{"a"}}
	x := begin(t, s, 100, 24).keys("u")
	next, cmd := x.model.Update(tea.KeyPressMsg(tea.Key{Code: tea.KeyEnter}))
	x.model = next.(model)
	x.keys("esc", "F", "q").sees("working", "it is being done")
	x.send(planned{id: 99, result: missions.RestoreResult{Mission: "demo", Modify: []string{"late"}}})
	x.misses("late")
	x.follow(cmd)
	x.sees("undo done")
	x.keys("x")
	x.send(planned{id: 1, result: missions.RestoreResult{Mission: "demo", Modify: []string{"late"}}})
	x.misses("late")
}

// Figures of how far a plan is are gone once it is there, so that its keys are seen; what is
// read each second takes them away no sooner.
func TestPlanFigures(t *testing.T) {
	s := world(4)
	s.plan = missions.RestoreResult{Create: []string{"a"}}
	x := begin(t, s, 100, 24)
	next, cmd := x.model.Update(tea.KeyPressMsg(tea.Key{Code: 'u', Text: "u"}))
	x.model = next.(model)
	x.send(noticed(missions.Notice{Text: "looking through /w", Done: 5000, Unit: "files"}))
	x.send(listed{missions: x.model.missions.all})
	x.sees("looking through /w")
	x.follow(cmd)
	x.sees("undo would:", "enter does it").misses("looking through")
}

// A plan and the form of a fork, on terminals of some sizes.
func TestPlanScreens(t *testing.T) {
	for name, c := range map[string]struct {
		width, height int
		key           string
	}{
		"plan": {80, 24, "enter"}, "plannarrow": {40, 16, "enter"}, "undo": {80, 24, "u"}, "fork": {60, 20, "f"},
	} {
		s := world(4)
		s.plan = missions.RestoreResult{
			Modify: []string{"greet.sh"}, Foreign: []missions.PathReason{{Path: "theirs.txt", Reason: "changed"}},
			Refused: []*missions.Error{missions.Errorf(missions.KindBusy, "wait", "demo is in turn 4")},
		}
		golden(t, name, begin(t, s, c.width, c.height).keys("j", "j", c.key).plain()+"\n")
	}
}

// Of a plan of very many paths the first are shown, and how to see the rest.
func TestLongPlan(t *testing.T) {
	s := world(4)
	for i := range 5000 {
		s.plan.Modify = append(s.plan.Modify, fmt.Sprint("file", i))
	}
	x := begin(t, s, 100, 24).keys("j", "j", "enter").sees("file0", "more below")
	x.keys(slices.Repeat([]string{"pgdown"}, 100)...).sees("… and 4001 more lines; umbra restore --preview")
}
