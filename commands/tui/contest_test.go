package tui

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

// The forks of a contest are shown beside each other, as they become, and one is promoted.
func TestContest(t *testing.T) {
	s := forkTwice()
	x := begin(t, s, 80, 24).keys("C").sees("neither demo nor a fork of it is of a contest (umbra contest MOMENT begins one)")
	for _, i := range []int{0, 2} {
		s.list[i].Contest = &missions.Contest{ID: "contest", Check: "go test ./..."}
	}
	s.list[2].CreatedAt = start
	s.list[2].State = missions.StateRunning
	good, bad := missions.NewCheck(0), missions.NewCheck(1)
	s.checks = map[string]*missions.Check{"other": &bad}
	x.send(tick{})
	x.keys("C").sees("contest of demo, checked by go test ./...", "> french", "idle", "+3 −1  bad        $0.25", "  one-of-a-n", "running", "+3 −1  -              -")
	x.calledLast("compare [other second] patch false")
	s.checks["second"] = &good
	s.list[2].State, s.list[2].Head = missions.StateClosed, s.list[2].Head+"+"
	x.send(tick{})
	x.sees("closed", "+3 −1  good")
	asked := len(s.calls)
	x.send(tick{})
	if slices.Contains(s.calls[asked:], "compare [other second] patch false") {
		t.Error("nothing is new, and it is compared again")
	}
	x.keys("j", "j").sees("> one-of-a-n").keys("k").sees("> french").keys("j", "enter").sees("promote one-of-a-name-that")
	x.keys("esc", "tab", "tab", "j", "j", "C").sees("> one-of-a-n").keys("q").misses("checked by")
	x.keys("C")
	s.list = s.list[1:2]
	x.send(tick{})
	x.misses("checked by")
	s.list = nil
	if m := begin(t, s, 80, 24).model; (contest{}).key(&m, tea.KeyPressMsg{Code: 'j', Text: "j"}) != nil {
		t.Error("a key in a contest without forks does something")
	}
}
