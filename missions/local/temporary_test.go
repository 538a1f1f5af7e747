package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// TestTemporariesOfTheDead: what a killed process had half written is found by
// doctor, wherever in the home it is or beside a conversation, and removed at the
// next start.
func TestTemporariesOfTheDead(t *testing.T) {
	t.Parallel()
	b := startTalker(t)
	b.hook("SessionStart", map[string]any{"source": "startup"})
	b.takeTurn("please", "a.txt", "one\n")
	m := b.only()
	var left []string
	for _, dir := range []string{b.home, filepath.Join(b.home, "statcache"), filepath.Join(b.home, "projects"), filepath.Dir(m.ShadowRepo), filepath.Dir(m.SessionPath)} {
		left = append(left, filepath.Join(dir, ".umbra-tmp-0123456789abcdef"))
	}
	leave := func() {
		for _, file := range left {
			b.put(file, "half of it")
		}
	}
	gone := func(when string) {
		t.Helper()
		for _, file := range left {
			if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s is there, %v", when, file, err)
			}
		}
	}
	leave()
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) != 1 || d.Problems[0].Invariant != "I6" || !strings.HasPrefix(d.Problems[0].Message, "5 temporary files") {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
	d, err = b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: true})
	if err != nil || len(d.Problems) != 0 || len(d.Fixed) != 1 {
		t.Errorf("doctor --fix: %+v %v", d, err)
	}
	gone("after doctor --fix")
	leave()
	if err := b.local.Recover(context.Background()); err != nil {
		t.Error(err)
	}
	gone("after a start")
	b.healthy()
}

// TestDeadForksNameIsFree: a fork whose process was killed is taken away before
// the next is made, without a daemon or doctor, and so holds up no name.
func TestDeadForksNameIsFree(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	self := b.local.Self
	b.local.Self = lock.Owner{PID: 1 << 30, Start: 1, Boot: "another", Command: "umbra fork"}
	at, _, err := b.local.ForkPoint(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work"})
	if err != nil {
		t.Fatal(err)
	}
	request := missions.ForkRequest{Caller: b.caller(), From: "work", Name: "twice"}
	jobs, err := b.local.ReserveNames(context.Background(), at, request)
	if err != nil {
		t.Fatal(err)
	}
	if err := jobs[0].MakeWorkspace(context.Background()); err != nil {
		t.Fatal(err)
	}
	b.local.Self = self
	result, err := b.local.Fork(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	if result.Missions[0].Workspace != jobs[0].Made.Workspace {
		t.Errorf("made in %s, the dead one in %s", result.Missions[0].Workspace, jobs[0].Made.Workspace)
	}
	if _, err := b.local.Journal.Load(jobs[0].Operation.ID()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead fork is in the journal: %v", err)
	}
	if left, err := journal.Leftovers(b.home); err != nil || len(left) > 0 {
		t.Errorf("left %v %v", left, err)
	}
	b.healthy()
}
