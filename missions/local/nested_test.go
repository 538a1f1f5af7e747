package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
)

// TestRestoreKeepsNestedWorkspace: what is in the workspace of a mission that works
// in a part of another one's goes with a restore of the outer one, and comes back;
// the directory stays, since the inner mission is bound to it.
func TestRestoreKeepsNestedWorkspace(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("outer")
	b.write("part/more/in.txt", "one\n")
	b.write("other/b.txt", "one\n")
	inner := b.beside(filepath.Join(filepath.Base(b.dir), "part/more"), "")
	inner.mission("inner")
	emptied := func(moment string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", moment, err)
		}
		entries, err := os.ReadDir(inner.dir)
		if err != nil || len(entries) > 0 {
			t.Errorf("%s: in the inner workspace are %v, %v", moment, entries, err)
		}
		if b.exists("other") {
			t.Errorf("%s leaves a directory that is nobody's", moment)
		}
		inner.snapshot("the inner mission goes on")
	}
	r, err := b.local.Restore(ctx, missions.RestoreRequest{Caller: b.caller(), Moment: "outer@start", Mission: "outer", All: true})
	emptied("restore", err)
	if len(r.Kept) != 1 || r.Kept[0] != (missions.PathReason{Path: "part/more", Reason: "workspace"}) {
		t.Errorf("kept: %+v", r.Kept)
	}
	if _, err := b.local.Undo(ctx, missions.UndoRequest{Caller: b.caller(), Mission: "outer"}); err != nil {
		t.Fatal(err)
	}
	if b.read("part/more/in.txt") != "one\n" || b.read("other/b.txt") != "one\n" {
		t.Error("undo has not put back what went")
	}
	inner.snapshot("and so after the undo")
	_, err = b.local.Redo(ctx, missions.UndoRequest{Caller: b.caller(), Mission: "outer"})
	emptied("redo", err)
	b.healthy()
}

// TestUndoKeepsNestedWorkspace: an undo does not remove the directory either, which
// the restore had made.
func TestUndoKeepsNestedWorkspace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("part/in.txt", "one\n")
	b.mission("outer")
	if err := os.RemoveAll(filepath.Join(b.dir, "part")); err != nil {
		t.Fatal(err)
	}
	b.snapshot("without the part")
	b.restore("outer@start")
	inner := b.beside(filepath.Join(filepath.Base(b.dir), "part"), "")
	inner.mission("inner")
	r, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "outer"})
	if err != nil || len(r.Kept) != 1 || r.Kept[0].Reason != "workspace" || b.exists("part/in.txt") {
		t.Errorf("undo: %+v, %v", r, err)
	}
	inner.snapshot("the inner mission goes on")
	b.healthy()
}

// TestReplacedWorkspace: where another directory is in a workspace's place, and is
// not empty, what is said to be typed works.
func TestReplacedWorkspace(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	if err := os.Rename(b.dir, b.dir+"-before"); err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "another's\n")
	b.write("b.txt", "two\n")
	fix := "umbra project move --force " + b.dir + " " + b.dir
	refused := func(what string, err error) {
		t.Helper()
		b.fails(what, err, missions.KindFailed)
		if hint := missions.AsError(err).Hint; !strings.Contains(hint, fix) || strings.Contains(hint, "--recreate") {
			t.Errorf("%s: hint: %s", what, hint)
		}
	}
	_, err := b.local.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller(), Mission: "work"})
	refused("a snapshot", err)
	m, err := b.local.FindMission(ctx, b.caller(), "work", addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.local.RecreateMission(ctx, m, missions.LaunchRequest{Caller: b.caller(), Recreate: b.dir})
	refused("making it again", err)
	d, err := b.local.Doctor(ctx, missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Fix, fix) || strings.Contains(d.Problems[0].Fix, "--recreate") {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
	if _, err := b.moved(b.dir, b.dir, true); err != nil {
		t.Errorf("%s: %v", fix, err)
	}
	b.snapshot("in what is there now")
	if got := b.cat("work", "b.txt"); got != "two\n" {
		t.Errorf("b.txt: %q", got)
	}
	b.healthy()
}
