package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// cutOff leaves a restore as a process that was killed after some of it does.
func (b *testBench) cutOff(mission, moment string, some func(*restores.RestoreWork) error) {
	b.Helper()
	at, err := b.local.FindMoment(context.Background(), b.caller(), moment, addresses.InAnyProject)
	if err != nil {
		b.Fatal(err)
	}
	self := b.local.Self
	b.local.Self = lock.Owner{PID: 1 << 30, Start: 1, Boot: "another", Command: "umbra restore"}
	defer func() { b.local.Self = self }()
	err = b.local.WithWorkspaceLock(context.Background(), at.Mission, func(m *projects.Mission) error {
		target, err := m.Project.Store.Snapshot(gitstore.ID(at.Snapshot.ID))
		if err != nil {
			return err
		}
		j, err := b.local.PlanRestore(context.Background(), m, target, missions.RestoreRequest{Caller: b.caller(), Moment: at.Snapshot.ID.String(), Mission: mission})
		if err != nil {
			return err
		}
		doc, err := b.local.NewJournalDoc(m, j)
		if err != nil {
			return err
		}
		work, err := b.local.BeginRestore(m, doc, j, restore.PrepareOptions{})
		if err != nil {
			return err
		}
		defer work.Close()
		return some(work)
	})
	if err != nil {
		b.Fatal(err)
	}
}

func applied(w *restores.RestoreWork) error {
	_, err := w.Apply(context.Background())
	return err
}

// applying is a restore that had begun to change things, and had changed nothing.
func applying(w *restores.RestoreWork) error {
	if err := w.Stage(context.Background()); err != nil {
		return err
	}
	if err := w.Entry.Advance(journal.Staged); err != nil {
		return err
	}
	return w.Entry.Advance(journal.Applying)
}

func (b *testBench) messages(mission string) []string {
	b.Helper()
	l, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Mission: mission})
	if err != nil {
		b.Fatal(err)
	}
	var out []string
	for _, e := range l {
		out = append(out, e.Message)
	}
	return out
}

// TestNobodyGoesOnFromTheMiddleOfARestore: what a killed restore left undone is
// finished before anything that a user asks for there.
func TestNobodyGoesOnFromTheMiddleOfARestore(t *testing.T) {
	t.Parallel()
	commands := map[string]func(*testBench) error{
		"snapshot": func(b *testBench) error {
			_, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Message: "after"})
			return err
		},
		"fork": func(b *testBench) error {
			_, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "forked"})
			return err
		},
		"resume": func(b *testBench) error {
			_, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "work", Resume: true})
			return err
		},
		"another mission": func(b *testBench) error {
			_, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: "other", Command: []string{"sh"}})
			return err
		},
		"removal": func(b *testBench) error {
			_, err := b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"work"}})
			return err
		},
	}
	for name, command := range commands {
		for how, some := range map[string]func(*restores.RestoreWork) error{"applied": applied, "applying": applying} {
			t.Run(name+" "+how, func(t *testing.T) {
				b := newBench(t)
				b.write("a.txt", "one\n")
				b.write("b.txt", "one\n")
				b.mission("work")
				b.write("a.txt", "two\n")
				b.write("c.txt", "two\n")
				b.snapshot("second")
				b.cutOff("work", "work@start", some)
				s, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
				if err != nil || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].Message, "cut off") {
					t.Errorf("status: %+v %v", s.Problems, err)
				}
				if err := command(b); err != nil {
					t.Fatal(err)
				}
				if a, c := b.read("a.txt"), b.read("c.txt"); a != "one\n" || c != "(none)" {
					t.Errorf("a.txt %q, c.txt %q: the restore was not finished", a, c)
				}
				if name != "removal" {
					if list := b.messages("work"); !strings.Contains(strings.Join(list, "\n"), "restore") {
						t.Errorf("no snapshot of the restore: %q", list)
					}
				}
				b.healthy()
			})
		}
	}
}

// TestWorkAfterACutOffRestoreIsKept: where people have gone on working nothing
// is touched; their snapshot is taken, and they are told.
func TestWorkAfterACutOffRestoreIsKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("second")
	b.cutOff("work", "work@start", applying)
	b.write("a.txt", "by hand\n")
	var told []string
	ctx := missions.WithNotify(context.Background(), func(n missions.Notice) { told = append(told, n.Text) })
	e, err := b.local.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller(), Message: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if a := b.read("a.txt"); a != "by hand\n" {
		t.Errorf("a.txt %q", a)
	}
	if text := strings.Join(told, "\n"); !strings.Contains(text, "umbra undo work") {
		t.Errorf("told %q", text)
	}
	r, err := b.local.Resolve(context.Background(), missions.ResolveRequest{Caller: b.caller(), Mission: "work"})
	if err != nil {
		t.Fatal(err)
	}
	if kept := b.git("--git-dir", r.ShadowRepo, "show", e.ID+":a.txt"); kept != "by hand\n" {
		t.Errorf("the snapshot holds %q", kept)
	}
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start"}); kindOf(err) != missions.KindConflict {
		t.Errorf("a restore over it: %v", err)
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "work"}); err != nil {
		t.Errorf("undo: %v", err)
	}
	if a := b.read("a.txt"); a != "by hand\n" {
		t.Errorf("a.txt %q after undo", a)
	}
	b.healthy()
}

// TestHookDoesNotWaitForRecovery: what an agent waits for is the snapshot alone.
func TestHookDoesNotWaitForRecovery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("second")
	b.cutOff("work", "work@start", applied)
	at, err := b.local.FindMission(context.Background(), b.caller(), m.ID, addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.SubmitRequest(context.Background(), at.Project, at.ID, &snapshots.Request{Event: missions.PromptSubmitted{Text: "next"}}); err != nil {
		t.Fatal(err)
	}
	entries, _, err := b.local.Journal.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if phase, _ := entries[0].Phase(); phase != journal.Applied {
		t.Errorf("the restore is %v: a hook has recovered it", phase)
	}
	if err := b.local.Recover(context.Background()); err != nil {
		t.Error(err)
	}
	b.healthy()
}

// TestRedoOfACutOffRestoreSaysWhatItDid finishes a restore over which people
// have gone on working, and takes one back.
func TestRedoOfACutOffRestoreSaysWhatItDid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, name := range []string{"a.txt", "d.txt"} {
		b.write(name, "one\n")
	}
	b.mission("work")
	b.write("a.txt", "two\n")
	b.write("c.txt", "two\n")
	if err := os.Remove(filepath.Join(b.dir, "d.txt")); err != nil {
		t.Fatal(err)
	}
	b.snapshot("second")
	step := func(name string, run func(context.Context, missions.UndoRequest) (missions.RestoreResult, error), some func(*restores.RestoreWork) error) {
		t.Helper()
		b.cutOff("work", "work@start", func(w *restores.RestoreWork) error {
			if err := some(w); err != nil {
				return err
			}
			return w.Entry.Advance(journal.Interrupted)
		})
		r, err := run(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "work"})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := []string{strings.Join(r.Modify, " "), strings.Join(r.Create, " "), strings.Join(r.Delete, " ")}
		want := []string{"a.txt", "d.txt", "c.txt"}
		if name == "undo" {
			want = []string{"a.txt", "c.txt", "d.txt"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: changed, created, deleted %q, want %q", name, got, want)
		}
	}
	step("undo", b.local.Undo, applied)
	step("redo", b.local.Redo, applying)
	b.healthy()
}

// TestCutOffRestoreThatCanNotBeEnded holds up nobody, and doctor ends it: when
// what it needs is mended, else by moving it away.
func TestCutOffRestoreThatCanNotBeEnded(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]bool{"mended": false, "lost": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "one\n")
			m := b.mission("work")
			b.mission("other")
			b.write("a.txt", "two\n")
			if _, err := b.local.Snapshot(t.Context(), missions.SnapshotRequest{Caller: b.caller(), Mission: "work", Message: "second"}); err != nil {
				t.Fatal(err)
			}
			b.cutOff("work", "work@start", applying)
			at, err := b.local.FindMission(t.Context(), b.caller(), m.ID, addresses.InProject)
			if err != nil {
				t.Fatal(err)
			}
			b.put(filepath.Join(at.Project.ShadowRepo(), "refs", "agents", m.ID), "rubbish\n")
			if lost {
				if err := os.Remove(filepath.Join(at.Project.ShadowRepo(), "refs", "records", m.ID)); err != nil {
					t.Fatal(err)
				}
			}
			b = b.again()
			var told []string
			ctx := missions.WithNotify(t.Context(), func(n missions.Notice) { told = append(told, n.Text) })
			b.write("a.txt", "three\n")
			if _, err := b.local.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller(), Mission: "other"}); err != nil {
				t.Fatalf("the other mission is held up: %v", err)
			}
			if text := strings.Join(told, "\n"); !strings.Contains(text, "umbra doctor --fix") {
				t.Errorf("told %q", text)
			}
			if _, err := b.local.Doctor(t.Context(), missions.DoctorRequest{Caller: b.caller(), Fix: true}); err != nil {
				t.Fatal(err)
			}
			entries, _, err := b.local.Journal.List()
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				if phase, _ := e.Phase(); phase == journal.Applying {
					t.Errorf("operation %s is %v still", e.ID(), phase)
				}
			}
			if b.read("a.txt") != "three\n" {
				t.Error("what was written since is gone")
			}
		})
	}
}
