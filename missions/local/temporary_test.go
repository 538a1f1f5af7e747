package local

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
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

// TestKilledImportLeavesNothingInClear: what a killed import has decrypted is found by doctor,
// and removed by it and by the next start.
func TestKilledImportLeavesNothingInClear(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("please", "a.txt", "one\n")
	dir := t.TempDir()
	file, key := filepath.Join(dir, "mail.umbra"), filepath.Join(dir, "key")
	if _, err := c.local.Export(t.Context(), missions.ExportRequest{Caller: c.caller(), Moments: []string{c.only().Name}, File: file, NewKeyFile: key}); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	inClear := map[string][]byte{}
	during := missions.WithNotify(t.Context(), func(missions.Notice) {
		entries, _ := os.ReadDir(b.home)
		for _, e := range entries {
			path := filepath.Join(b.home, e.Name())
			if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte("git bundle")) {
				inClear[path] = text
			}
		}
	})
	if _, err := b.local.ImportFile(during, missions.ImportFileRequest{Caller: b.caller(), File: file, KeyFile: key}); err != nil {
		t.Fatal(err)
	}
	if len(inClear) != 1 {
		t.Fatalf("%d files in clear while it is imported, want one", len(inClear))
	}
	leave := func() {
		for path, text := range inClear {
			b.put(path, string(text))
		}
	}
	gone := func(when string) {
		t.Helper()
		for path := range inClear {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s is there, %v", when, path, err)
			}
		}
	}
	gone("after the import")
	leave()
	d, err := b.local.Doctor(t.Context(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) != 1 || d.Problems[0].Invariant != "I6" {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
	if _, err := b.local.Doctor(t.Context(), missions.DoctorRequest{Caller: b.caller(), Fix: true}); err != nil {
		t.Error(err)
	}
	gone("after doctor --fix")
	leave()
	if err := b.local.Recover(t.Context()); err != nil {
		t.Error(err)
	}
	gone("after a start")
	b.healthy()
}
