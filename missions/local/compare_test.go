package local

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// compared compares forks, which must succeed.
func (b *testBench) compared(forks ...string) []missions.ComparedFork {
	b.Helper()
	list, err := b.local.Compare(context.Background(), missions.CompareRequest{Caller: b.caller(), Forks: forks})
	if err != nil {
		b.Fatalf("compare %v: %v (%s)", forks, err, missions.AsError(err).Hint)
	}
	return list
}

// TestCompareSpent: of what the conversation says a fork's are its own turns alone. What
// no conversation tells is not known, and is not nothing.
func TestCompareSpent(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.mission = c.now().ID
	c.idles(1000)
	spending, silent := c.forkTalker("spending"), c.forkTalker("silent")
	_, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: c.mission, Name: "resting"})
	if err != nil {
		t.Fatal(err)
	}
	spending.idles(70)
	spending.asks(7)
	silent.takeTurn("no word of tokens", "b.txt", "b\n")

	list := c.compared("spending", "silent", "resting")
	said := func(f missions.ComparedFork) string {
		tokens := "-"
		if f.Tokens != nil {
			tokens = fmt.Sprint(*f.Tokens)
		}
		return fmt.Sprintf("%d turns, %s tokens, %v cost, timed %t, %d files +%d -%d", f.Turns, tokens, f.Cost, f.Seconds != nil, f.Files, f.Lines.Added, f.Lines.Deleted)
	}
	for i, want := range []string{
		"2 turns, 77 tokens, <nil> cost, timed true, 1 files +1 -1",
		"1 turns, - tokens, <nil> cost, timed true, 1 files +1 -0",
		"0 turns, - tokens, <nil> cost, timed false, 0 files +0 -0",
	} {
		if got := said(list[i]); got != want {
			t.Errorf("%s: %s, want %s", list[i].Mission, got, want)
		}
	}
	if list[0].Address != "spending@3" || list[1].Address != "silent@2" {
		t.Errorf("compared are %s and %s", list[0].Address, list[1].Address)
	}
}

// TestComparePaths: a path that several forks have changed is shared, a renamed file by
// the one of its two names that others have changed.
func TestComparePaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("moved.txt", tenLines(-1, ""))
	b.write("same.txt", "same\n")
	b.mission("work")
	one, two, three := b.forkBench("one"), b.forkBench("two"), b.forkBench("three")
	one.remove("moved.txt")
	one.write("new.txt", tenLines(-1, ""))
	two.write("moved.txt", tenLines(2, "changed"))
	three.write("alone.txt", "alone\n")
	b.snapshots("one", "two", "three")
	list := b.compared("one", "two", "three")
	for i, want := range [][2][]string{{{}, {"moved.txt"}}, {{}, {"moved.txt"}}, {{"alone.txt"}, {}}} {
		if got := [2][]string{list[i].Alone, list[i].Shared}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: alone and shared are %q, want %q", list[i].Mission, got, want)
		}
	}
	if list[0].Files != 1 || list[0].Changes[0].OldPath != "moved.txt" {
		t.Errorf("the renamed file is %+v", list[0].Changes)
	}
}

// snapshots takes one of each mission.
func (b *testBench) snapshots(list ...string) {
	b.Helper()
	for _, m := range list {
		if _, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: m}); err != nil {
			b.Fatal(err)
		}
	}
}
