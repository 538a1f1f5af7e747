package local

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// TestRecordedPlaces compares the place that each record says with that which
// numbering the whole history gives, over random turns of two missions.
func TestRecordedPlaces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "0\n")
	rnd := rand.New(rand.NewSource(1))
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	for n := range 60 {
		b.write("a.txt", fmt.Sprint(n))
		switch rnd.Intn(5) {
		case 0:
			c.hook("UserPromptSubmit", map[string]any{"prompt": fmt.Sprint("prompt ", n)})
		case 1:
			c.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": fmt.Sprint("t", n), "tool_input": map[string]any{"file_path": b.dir + "/a.txt"}})
		case 2:
			c.hook("Stop", nil)
		case 3:
			b.snapshot("by hand")
		case 4:
			if n%3 == 0 {
				if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), FilesOnly: true, All: true, Force: true, Moment: "~1"}); err != nil && missions.AsError(err).Kind != missions.KindConflict && missions.AsError(err).Kind != missions.KindBusy {
					t.Fatal(err)
				}
			}
		}
	}
	c.hook("Stop", nil)
	if _, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), Name: "forked", Workspace: filepath.Join(b.dir, "..", "fork")}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: "forked"}); err != nil {
		t.Fatal(err)
	}
	at, err := b.local.LocateCaller(b.caller())
	if err != nil {
		t.Fatal(err)
	}
	all, problems := b.local.ProjectMissions(at.Project)
	if len(all) != 2 || len(problems) > 0 {
		t.Fatalf("%d missions, %v", len(all), problems)
	}
	for _, m := range all {
		count := 0
		err := m.Project.WalkTurns(m.Tip.ID, func(turn []projects.NumberedSnapshot) error {
			for _, want := range turn {
				got, known, err := m.Project.NumberSnapshotByRecord(want.Snapshot)
				if err != nil || !known || got != want {
					t.Errorf("%s: the record of %s says %+v (%t, %v)", m.Name, want.Address(m.Name), got, known, err)
				}
				count++
			}
			return nil
		})
		if err != nil || count < 30 {
			t.Errorf("%s: %d snapshots, %v", m.Name, count, err)
		}
	}
}

// losing removes the commit of a snapshot from the shadow repository, so that
// whoever reads it fails, and gives a Service that remembers nothing.
func (b *testBench) losing(shadow, snapshot string) *Service {
	b.Helper()
	if err := os.Remove(filepath.Join(shadow, "objects", snapshot[:2], snapshot[2:])); err != nil {
		b.Fatal(err)
	}
	fresh, err := New(Options{Home: b.local.Home, Config: settings.Default()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { fresh.Close() })
	return fresh
}

// TestNewestNeedsNoHistory takes, names, undoes and redoes with a commit lost
// that is further back in the same turn than these have any need to look.
func TestNewestNeedsNoHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "0\n")
	m := b.mission("work")
	var lost missions.Entry
	for n := range 12 {
		b.write("a.txt", fmt.Sprint(n))
		e := b.snapshot(fmt.Sprint("change ", n))
		if n == 2 {
			lost = e
		}
	}
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work~3"}); err != nil {
		t.Fatal(err)
	}
	fresh := b.losing(m.ShadowRepo, lost.ID)
	ctx := context.Background()
	if _, err := fresh.Undo(ctx, missions.UndoRequest{Caller: b.caller()}); err != nil {
		t.Errorf("undo: %v", err)
	}
	if _, err := fresh.Redo(ctx, missions.UndoRequest{Caller: b.caller()}); err != nil {
		t.Errorf("redo: %v", err)
	}
	before, err := fresh.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller()})
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	after, err := fresh.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller()})
	if err != nil || !strings.HasPrefix(before.Address, "work@0.") || after.Address == before.Address {
		t.Errorf("snapshot: %s then %s (%v)", before.Address, after.Address, err)
	}
	status, err := fresh.Status(ctx, missions.StatusRequest{Caller: b.caller()})
	if err != nil || status.LastSnapshot == nil || status.LastSnapshot.Address != after.Address {
		t.Errorf("status: %+v %v", status.LastSnapshot, err)
	}
	if _, err := fresh.Log(ctx, missions.LogRequest{Caller: b.caller()}); err == nil {
		t.Error("the commit is not lost")
	}
}

// TestUndoneOperations holds the lazy reading of what can be undone against the
// two stacks that define it.
func TestUndoneOperations(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "0\n")
	b.mission("work")
	rnd := rand.New(rand.NewSource(2))
	var done, undone []string
	for n := range 25 {
		m, err := b.local.FindMission(context.Background(), b.caller(), "work", addresses.InProject)
		if err != nil {
			t.Fatal(err)
		}
		for kind, want := range map[string][]string{"undo": done, "redo": undone} {
			list, err := restores.UndoableOperations(m, kind, 100)
			if err != nil || len(list) != len(want) {
				t.Fatalf("%s: %d operations, want %d (%v)", kind, len(list), len(want), err)
			}
			for i, op := range list {
				if op.ID != want[len(want)-1-i] {
					t.Fatalf("%s: operation %d is %s", kind, i, op.ID)
				}
			}
		}
		var result missions.RestoreResult
		kind := []string{"restore", "undo", "redo"}[rnd.Intn(3)]
		switch {
		case kind == "undo" && len(done) > 0:
			result, err = b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Force: true})
		case kind == "redo" && len(undone) > 0:
			result, err = b.local.Redo(context.Background(), missions.UndoRequest{Caller: b.caller(), Force: true})
		default:
			kind = "restore"
			b.write(fmt.Sprint("file", n), "new\n") // each has paths of its own
			b.snapshot("change")
			result, err = b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work~1", All: true})
		}
		if err != nil {
			t.Fatal(err)
		}
		id, err := gitstore.ParseID(result.Snapshot)
		if err != nil {
			t.Fatalf("%s: %+v", kind, result)
		}
		s, err := m.Project.Store.Snapshot(id)
		if err != nil {
			t.Fatal(err)
		}
		op, _, err := restores.ReadOperation(m, s)
		if err != nil {
			t.Fatal(err)
		}
		switch kind {
		case "undo":
			done, undone = done[:len(done)-1], append(undone, op.ID)
		case "redo":
			done, undone = append(done, op.ID), undone[:len(undone)-1]
		default:
			done, undone = append(done, op.ID), nil
		}
	}
}
