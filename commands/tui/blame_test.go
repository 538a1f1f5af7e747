package tui

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// Blame says that a file has a line of demo's second turn, one of other and one of nobody.
func (s *service) Blame(_ context.Context, r missions.BlameRequest) (missions.Blame, error) {
	s.called("blame %s %s", r.Moment, r.Path)
	if s.refused != nil {
		return missions.Blame{}, s.refused
	}
	line := func(n int, text, mission, snapshot, prompt string) missions.BlamedLine {
		return missions.BlamedLine{Line: n, Text: text, By: missions.AuthorMission, LineOrigin: missions.LineOrigin{Mission: mission, Snapshot: snapshot, Prompt: prompt}}
	}
	return missions.Blame{Path: r.Path, Lines: []missions.BlamedLine{
		line(1, "echo\thello", "demo", s.logs["demo"][3].ID, "wish number 5"), line(2, "en français", "french", s.logs["other"][1].ID, "translate it"),
		{Line: 3, Text: "older", By: missions.AuthorUnknown},
	}}, nil
}

// TestBlame: the turn that wrote each line of a file is shown, and gone to.
func TestBlame(t *testing.T) {
	s := world(6)
	x := begin(t, s, 140, 30).keys("j", "b").sees("choose a file, then b")
	for range 20 {
		if f, ok := x.model.details.fileAt(); ok && f.Path == "greet.sh" {
			break
		}
		x.keys("j")
	}
	x.keys("b").sees("greet.sh", "wish number 5", "echo    hello", "translate it", "before")
	x.calledLast("blame " + s.logs["demo"][0].ID + " greet.sh")
	x.keys("G", "enter").sees("no snapshot has made this line")
	x.keys("g", "j", "enter").misses("translate it")
	if e, _ := x.model.list.entryAt(); x.model.at().Name != "french" || e.ID != s.logs["other"][1].ID {
		t.Errorf("enter goes to %s in %s", e.ID, x.model.at().Name)
	}
	s.refused = missions.Errorf(missions.KindConflict, "umbra cat", "it is binary")
	x.keys("tab", "b").sees("choose a file")
}

// TestMarksOfTwoMissions: a moment that is marked in one mission is compared with one of
// another.
func TestMarksOfTwoMissions(t *testing.T) {
	s := world(3)
	x := begin(t, s, 140, 30).keys("j", "space", "tab", "tab", "j", "tab").sees("a moment of another mission is marked")
	if x.model.at().Name != "french" {
		t.Fatalf("shown is %s", x.model.at().Name)
	}
	x.keys("j", "d")
	x.calledLast("diff " + s.logs["demo"][0].ID + " " + s.logs["other"][0].ID + " 0")
	if x.keys("esc"); len(x.model.list.marks) != 0 {
		t.Errorf("after esc %q are marked", x.model.list.marks)
	}
}

// TestDetailsOfPath: where a path is asked for, its differences alone are shown.
func TestDetailsOfPath(t *testing.T) {
	s := world(3)
	x := begin(t, s, 140, 30).keys("/", "path:greet.sh", "enter", "j")
	if key := x.model.details.want; key.path != "greet.sh" {
		t.Errorf("the details are of %+v", key)
	}
}

// TestWaiting: what the mission that is shown asks is said, and since when; and that another
// one waits, where the list of missions is not on the screen.
func TestWaiting(t *testing.T) {
	s := world(2)
	s.list[1].State, s.list[1].StateSince, s.list[1].PendingPermissions = missions.StateWaiting, start, []missions.Permission{{Tool: "Bash"}}
	begin(t, s, 140, 30).sees("asks: Bash since 09:00:00")
	s.list[0].State, s.list[0].UpdatedAt = missions.StateWaiting, s.list[1].UpdatedAt
	begin(t, s, 80, 24).sees("! french waits for you")
	begin(t, s, 140, 30).misses("waits for you")
}
