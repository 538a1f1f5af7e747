package tui

import (
	"context"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/umbra-vcs/umbra/missions"
)

func (s *service) Compare(_ context.Context, r missions.CompareRequest) ([]missions.ComparedFork, error) {
	s.called("compare %v patch %v", r.Forks, r.Patch)
	if err := s.answer(); err != nil {
		return nil, err
	}
	var list []missions.ComparedFork
	for i, fork := range r.Forks {
		f := missions.ComparedFork{ForkPoint: "point", Fork: missions.Mission{ID: fork}}
		f.Mission, f.Turns, f.Files, f.Lines = fork, i+1, 2, missions.LineCounts{Added: 3, Deleted: 1}
		f.Alone, f.Shared = []string{fork + ".txt"}, []string{"both\x1b.txt"}
		list = append(list, f)
	}
	seconds, tokens, cost := 75.0, int64(12345), 0.25
	list[0].Seconds, list[0].Tokens, list[0].Cost = &seconds, &tokens, &cost
	return list, nil
}

func (s *service) Snapshot(_ context.Context, r missions.SnapshotRequest) (missions.Entry, error) {
	s.called("snapshot %s only if changed %v", r.Mission, r.OnlyIfChanged)
	return missions.Entry{}, nil
}

// forkTwice is a mission with two forks.
func forkTwice() *service {
	s := world(4)
	second := s.list[0]
	second.ID, second.Name = "second", "one-of-a-name-that-is-longer-than-any-column-of-the-table"
	s.list = append(s.list, second)
	s.logs["second"] = story("second", 1)
	return s
}

// Two forks that are marked are compared: in numbers, and then line by line in the pager.
func TestCompareForks(t *testing.T) {
	s := forkTwice()
	x := begin(t, s, 80, 24).keys("tab", "tab", "d").sees("space marks a fork; d compares two")
	x.keys("j", "space").sees(">*└ french").keys("d").sees("space marks a fork")
	x.keys("j", "d")
	x.calledLast("compare [other second] patch true")
	if n := len(s.calls); s.calls[n-3] != "snapshot other only if changed true" || s.calls[n-2] != "snapshot second only if changed true" {
		t.Errorf("before the comparison it called %q", s.calls[n-3:])
	}
	x.sees("from their fork points", "french", "one-of-a-name-that-is-long", "1m15s", "12.3k", "$0.25", "+3 −1", "changed by both", "both^.txt", "enter shows the lines")
	x.misses("not of one moment").keys("enter")
	if s.opened != "page other second\n" {
		t.Errorf("the pager had %q", s.opened)
	}
	x.keys("esc").misses("from their fork points").keys("space").sees(" *└ french", ">*└ one-of")
	x.keys("k", "k", "d")
	x.calledLast("compare [other second] patch true")
	x.keys("esc", "space", "d") // a third mark takes the first away
	x.calledLast("compare [second demo] patch true")
	x.keys("q")
	s.refused = missions.Errorf(missions.KindNotFound, "umbra compare french", "demo is not a fork")
	x.keys("d").sees("demo is not a fork (umbra compare french)").misses("from their fork points")
	x.keys("esc").misses("*")
	if len(x.model.list.marks) != 0 {
		t.Errorf("snapshots are marked: %q", x.model.list.marks)
	}
}

// A comparison that comes late is for nobody, and what is no longer there is marked no more.
func TestCompareForksLate(t *testing.T) {
	s := forkTwice()
	x := begin(t, s, 80, 24).keys("tab", "tab", "j", "space", "j")
	next, cmd := x.model.Update(tea.KeyPressMsg(tea.Key{Code: 'd', Text: "d"}))
	x.model = next.(model)
	x.sees("reading …", "esc goes back").keys("enter", "esc")
	x.follow(cmd)
	x.misses("from their fork points")
	s.list = s.list[1:]
	x.send(tick{})
	if x.misses("*"); len(x.model.missions.marks) != 0 {
		t.Errorf("%q are marked", x.model.missions.marks)
	}
}
