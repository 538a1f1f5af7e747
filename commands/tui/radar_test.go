package tui

import (
	"context"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

func (s *service) Status(context.Context, missions.StatusRequest) (missions.Status, error) {
	s.called("status")
	return missions.Status{Overlaps: s.overlaps}, s.answer()
}

// Live forks that change the same lines are marked, and said of the one that is shown. It is
// asked again when one has a new snapshot, and only then.
func TestRadar(t *testing.T) {
	s := forkTwice()
	s.overlaps = []missions.Overlap{{Path: "a.txt", Missions: []string{"french", s.list[2].Name}}, {Path: "b.txt", Missions: []string{"french", s.list[2].Name}}}
	asked := func() (n int) {
		for _, call := range s.calls {
			if call == "status" {
				n++
			}
		}
		return n
	}
	x := begin(t, s, 160, 24).sees("! french  idle").misses("same lines")
	x.send(tick{})
	x.keys("tab", "tab", "j").sees("! same lines as one-of-a-name-that-is-longer-than-any-column-of-the-table in a.txt and 1 more file")
	if n := asked(); n != 1 {
		t.Errorf("it was asked %d times", n)
	}
	s.refused = missions.Errorf(missions.KindFailed, "umbra doctor", "a tree is lost")
	s.list[0].Head = "new"
	x.send(tick{})
	x.sees("a tree is lost (umbra doctor)", "! french  idle")
	s.overlaps, s.list[2].Head = nil, "new"
	x.send(tick{})
	x.misses("! french").misses("same lines as")
	s.overlaps, s.list[2].Head = []missions.Overlap{{Path: "a.txt", Missions: []string{"french", "else"}}}, "newer"
	x.send(tick{})
	x.sees("same lines as else in a.txt")
	s.list[2].Name, s.overlaps = "renamed", []missions.Overlap{{Path: "a.txt", Missions: []string{"renamed", "else"}}}
	x.send(tick{})
	x.sees("! renamed")
	x.send(radar{of: "what was before"})
	x.sees("! renamed")
	s.list[2].State = missions.StateClosed
	x.send(tick{})
	x.misses("same lines")
	if n := asked(); n != 5 {
		t.Errorf("it was asked %d times", n)
	}
}
