package tui

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// answer is why the next deed is refused, nil if it is not.
func (s *service) answer() error {
	err := s.refused
	s.refused = nil
	return err
}

func (s *service) Stop(_ context.Context, r missions.StopRequest) ([]missions.Mission, error) {
	s.called("stop %v %v", r.Missions, r.Force)
	return nil, s.answer()
}

func (s *service) Rename(_ context.Context, r missions.RenameRequest) (missions.Mission, error) {
	s.called("rename %s %q", r.Mission, r.Name)
	return missions.Mission{Name: r.Name}, s.answer()
}

func (s *service) Remove(_ context.Context, r missions.RemoveRequest) (missions.RemoveResult, error) {
	s.called("remove %v workspace %v preview %v", r.Missions, r.Workspace, r.Preview)
	result := missions.RemoveResult{}
	if err := s.answer(); err != nil {
		return result, err
	}
	for i, m := range s.list {
		if m.ID == r.Missions[0] {
			result.Missions = []missions.Mission{m}
			if !r.Preview {
				s.list = append(s.list[:i:i], s.list[i+1:]...)
			}
		}
	}
	return result, nil
}

func (s *service) Report(_ context.Context, r missions.ReportRequest) (missions.ReportResult, error) {
	s.called("report %s %q, named %v", r.Fork, r.Text, missions.IsID(r.ID))
	return missions.ReportResult{Update: missions.Update{From: r.Fork, Text: r.Text}}, s.answer()
}

// An agent is stopped once that was asked; what is refused is said with what to type.
func TestStop(t *testing.T) {
	s := world(4)
	x := begin(t, s, 80, 24).keys("s").sees("stop the agent of demo", "in a turn, which is cut off", "enter does it")
	asked := len(s.calls)
	x.keys("esc").misses("stop the agent")
	if len(s.calls) != asked {
		t.Errorf("before enter it asked %q", s.calls[asked:])
	}
	x.keys("s", "enter").sees("demo stopped; r resumes it")
	x.calledLast("stop [demo] false")
	s.refused = missions.Errorf(missions.KindFailed, "if it has ended: umbra mission stop demo --force",
		"the process of demo can't be seen from here: it runs in another container, or too little was noted of it")
	x.keys("s", "enter").misses("stop the agent of")
	x.sees("can't be seen from here", "umbra mission stop demo --force)")
	s.list[1].State = missions.StateClosed
	x.send(tick{})
	x.keys("s").sees("demo has no agent to stop; r resumes it")
	s.list[1].Managed = missions.ManagedKeeper // which is about to start one
	x.send(tick{})
	x.keys("s").sees("stop the agent of demo").misses("in a turn")
}

// An agent is resumed on the terminal, unless it is there.
func TestResume(t *testing.T) {
	s := world(4)
	x := begin(t, s, 80, 24).keys("r").sees("mission demo is live already (go to its terminal, or stop it with s)")
	s.list[1].State = missions.StateClosed
	x.send(tick{})
	x.keys("r").sees("resume demo", "launched here").misses("parked").keys("esc").misses("launched here")
	s.list[1].SideFork = "french"
	x.send(tick{})
	x.sees("demo  parked").keys("r").sees("parked for french").keys("esc")
	if x.keys("r", "enter"); !x.quit || x.model.leaving == nil || x.model.leaving.Mission.ID != "demo" || x.model.leaving.Forked != nil {
		t.Errorf("it leaves with %+v, quit %v", x.model.leaving, x.quit)
	}
}

func TestRename(t *testing.T) {
	s := world(4)
	x := begin(t, s, 80, 24).keys("R").sees("rename demo", "demo_")
	x.keys("ctrl+u", " other one ", "enter").sees("demo is now other one")
	x.calledLast(`rename demo "other one"`)
	s.refused = missions.Errorf(missions.KindConflict, "choose another name", "the name french is taken")
	x.keys("R", "ctrl+u", "french", "enter").sees("the name french is taken (choose another name)").misses("working")
}

// A mission goes into the trash once what is only there was shown, and its workspace if
// that was asked for; what was shown before it is shown instead.
func TestRemove(t *testing.T) {
	s := world(4)
	s.list[0].MadeByUmbra = true
	x := begin(t, s, 80, 24).keys("tab", "tab", "j", "x").sees("remove french, into the trash", "french would be removed", "[ ] tab")
	x.calledLast("remove [other] workspace false preview true")
	x.keys("tab").sees("[x] tab")
	x.calledLast("remove [other] workspace true preview true")
	x.keys("esc").sees("└ french")
	x.keys("x", "tab", "enter").sees("french removed")
	x.keys("esc").misses("french")
	if at := x.model.at().ID; at != "demo" {
		t.Errorf("%q is shown then", at)
	}
	s.refused = missions.Errorf(missions.KindBusy, "umbra mission stop demo", "mission demo is live")
	x.keys("x").sees("mission demo is live (umbra mission stop demo)").misses("into the trash")
	x.send(answered{id: 1, done: true, err: s.err}) // to what is not shown any more
}

func TestReport(t *testing.T) {
	s := world(4)
	x := begin(t, s, 80, 24).keys("t").sees("mission demo is not a fork: it has nobody to report to (f makes a fork)")
	x.keys("tab", "tab", "j", "t").sees("report of french", "empty: its agent's last answer")
	x.keys("it works", "enter").sees("other reports: it works")
	x.calledLast(`report other "it works", named true`)
	s.refused = missions.Errorf(missions.KindConflict, "umbra fork report french TEXT", "the agent of french has not answered yet")
	x.keys("esc", "t", "enter").sees("has not answered yet (umbra fork report french TEXT)")
}

// Where no mission is, nothing can be done to one.
func TestManagesNothing(t *testing.T) {
	s := world(1)
	s.list = nil
	x := begin(t, s, 80, 24)
	x.keys("s", "r", "R", "x", "t").sees("no missions here yet", "? help")
}

func (s *service) Promote(_ context.Context, r missions.PromoteRequest) (missions.PromoteResult, error) {
	s.called("promote %s files %v talk %v keep %v all %v idle %v force %v preview %v%s",
		r.Fork, r.FilesOnly, r.ConversationOnly, r.KeepOthers, r.All, r.WhenIdle, r.Force, r.Preview, map[bool]string{true: " commits"}[r.Commits])
	if err := s.answer(); err != nil {
		return missions.PromoteResult{}, err
	}
	result := missions.PromoteResult{RestoreResult: s.plan, From: r.Fork, FromName: "french", Commits: s.commits}
	result.Target, result.Done = "target", !r.Preview
	if r.KeepOthers || r.All {
		result.Refused = nil
	}
	return result, nil
}

// A fork is promoted once its plan was shown, and what of it is chosen.
func TestPromote(t *testing.T) {
	s := world(4)
	s.plan = missions.RestoreResult{
		Modify: []string{"greet.sh"}, Foreign: []missions.PathReason{{Path: "both.txt", Reason: "changed"}},
		Refused: []*missions.Error{missions.Errorf(missions.KindConflict, "choose", "1 path was changed on both sides")},
	}
	x := begin(t, s, 80, 24).keys("tab", "tab", "j", "P").sees("promote french into demo", "take over: [files and conversation]", "promote of french, done false")
	x.calledLast("promote other files false talk false keep false all false idle false force false preview true")
	x.sees("o  keeps what the parent has in what both changed", "a  takes what the fork has there", "w  waits")
	x.keys("enter").sees("something stands in the way")
	x.keys("tab").sees("[files]").keys("a").sees("with the fork's side taken", "enter does it")
	x.calledLast("promote other files true talk false keep false all true idle false force false preview true")
	x.keys("enter").sees("promote of french, done true")
	x.calledLast("promote other files true talk false keep false all true idle false force false preview false")
}

// The parent's branch moves to the fork's commits where that is chosen, and where there are any.
func TestPromoteCommits(t *testing.T) {
	s := world(4)
	s.plan.Modify = []string{"greet.sh"}
	x := begin(t, s, 80, 24).keys("tab", "tab", "j", "P").misses("moves the parent's branch").keys("c")
	x.calledLast("promote other files false talk false keep false all false idle false force false preview true")
	s.commits = []missions.Commit{{}, {}}
	x.keys("esc", "P").sees("c  moves the parent's branch to the fork's commits (2), or not").keys("c").sees("with the parent's branch moved", "enter does it")
	x.calledLast("promote other files false talk false keep false all false idle false force false preview true commits")
	x.keys("tab", "tab").sees("[conversation]").misses("moves the parent's branch").misses("branch moved")
	x.keys("tab", "enter").sees("promote of french, done true")
	x.calledLast("promote other files false talk false keep false all false idle false force false preview false commits")
	s.plan.Modify = nil
	x.keys("esc", "P", "c", "enter").misses("nothing was done")
	x.calledLast("promote other files false talk false keep false all false idle false force false preview false commits")
}

// What can't be promoted is said with what to type, and nothing lies over the panes; a plan
// that fails only then stays.
func TestPromoteRefused(t *testing.T) {
	s := world(4)
	s.refused = missions.Errorf(missions.KindNotFound, "umbra promote french; its forks: french", "demo is not a fork")
	x := begin(t, s, 80, 24).keys("P").sees("demo is not a fork (umbra promote french; its forks: french)").misses("take over")
	x.keys("tab", "tab", "j", "P")
	s.refused = missions.Errorf(missions.KindBusy, "wait", "french is at work")
	s.plan.Modify = []string{"greet.sh"}
	x.keys("esc", "P")
	x.sees("french is at work (wait)").misses("promote french into")
	x.keys("P")
	s.refused = missions.Errorf(missions.KindFailed, "free some space", "the disk is full")
	x.keys("enter").sees("the disk is full", "free some space", "promote french into demo")
}
