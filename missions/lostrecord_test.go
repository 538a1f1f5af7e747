package missions

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// recordOf is the id of the record that a snapshot names.
func (b *testBench) recordOf(m Mission, snapshot string) string {
	b.Helper()
	return strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "log", "-1", "--format=%(trailers:key=Umbra-Record,valueonly)", snapshot))
}

// lostInTheMiddle is a mission of some snapshots of which something in the record of
// a middle one is lost: all of it, or a file.
func lostInTheMiddle(t *testing.T, file string) (b *testBench, m Mission, taken []Entry, lost int) {
	t.Helper()
	b, lost = newBench(t), 2
	b.write("a.txt", "0\n")
	m = b.mission("work")
	for n := range 5 {
		b.write("a.txt", fmt.Sprintln("change", n))
		taken = append(taken, b.snapshot(fmt.Sprint(n)))
	}
	record := b.recordOf(m, taken[lost].ID)
	if file == "" {
		b.loseObject(m, strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "rev-parse", record+"^{tree}")))
	}
	b.loseObject(m, strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "rev-parse", record+file)))
	return b.again(), m, taken, lost
}

// TestLostMiddleRecord: the record of one snapshot is lost, or what only it says.
// That snapshot alone can't be restored, and doctor says so for good; its files can
// be read, and all others are as they were, before it and after.
func TestLostMiddleRecord(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{"all of it": "", "the mission in it": ":" + missionDoc, "the snapshot in it": ":" + snapshotDoc} {
		t.Run(name, func(t *testing.T) {
			b, m, taken, lost := lostInTheMiddle(t, file)
			cut := 0
			if file == "" {
				cut = 3 // the records before it: those of the first snapshots
			}
			for round, want := range []struct {
				said            string
				problems, fixed int
			}{{"can't be read", 1 + cut, 0}, {"lost for good", 1, cut}, {"lost for good", 1, 0}} {
				d, err := b.local.Doctor(context.Background(), DoctorRequest{Caller: b.caller(), Fix: round > 0})
				said := want.said + " in snapshot " + taken[lost].ID[:10] + ": what was recorded with the files"
				if err != nil || len(d.Problems) != want.problems || len(d.Fixed) != want.fixed || d.Problems[0].Mission != "work" || !strings.HasPrefix(d.Problems[0].Message, said) {
					t.Errorf("round %d: %+v, fixed %+v, %v, not %q", round, d.Problems, d.Fixed, err, said)
				}
			}
			b = b.again()
			for n, e := range taken {
				if got, want := b.cat(e.ID, "a.txt"), fmt.Sprintln("change", n); got != want {
					t.Errorf("snapshot %d holds %q", n, got)
				}
			}
			for n, e := range slices.Backward(taken) {
				r, err := b.local.Restore(context.Background(), RestoreRequest{Caller: b.caller(), Moment: e.ID})
				if n == lost && file != ":"+snapshotDoc {
					continue
				}
				if want := fmt.Sprintln("change", n); err != nil || !r.Done || b.read("a.txt") != want {
					t.Errorf("restored %d: %q, %v", n, b.read("a.txt"), err)
				}
			}
			if _, err := b.local.Undo(context.Background(), UndoRequest{Caller: b.caller()}); err != nil {
				t.Errorf("undo: %v", err)
			}
			for n, at := range map[int]string{0: taken[0].ID, 4: taken[4].ID} {
				made, err := b.local.Fork(context.Background(), ForkRequest{Caller: b.caller(), From: at, Name: fmt.Sprint("fork-", n), Workspace: filepath.Join(b.dir, "..", fmt.Sprint("fork-", n))})
				if err != nil || len(made.Missions) != 1 {
					t.Errorf("fork of %d: %v", n, err)
				}
			}
			b.write("a.txt", "after\n")
			after, err := b.local.Snapshot(context.Background(), SnapshotRequest{Caller: b.caller(), Mission: "work"})
			if err != nil {
				t.Fatal(err)
			}
			list := b.history("work")
			if len(list) < 7 || list[0].ID != after.ID || list[len(list)-1].ID != m.Head || !slices.ContainsFunc(list, func(e Entry) bool { return e.ID == taken[lost].ID }) {
				t.Errorf("history: %+v", list)
			}
		})
	}
}

// TestLostSharedDocuments: what the records of all snapshots share is written again,
// from a workspace in which it still holds. Each can be restored then.
func TestLostSharedDocuments(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{rulesDoc, skippedDoc, modesDoc} {
		t.Run(doc, func(t *testing.T) {
			b, _, taken, _ := lostInTheMiddle(t, ":"+doc)
			_, err := b.local.Restore(context.Background(), RestoreRequest{Caller: b.caller(), Moment: taken[0].ID})
			b.fails("restore", err, KindDamaged)
			b.mended("what all share")
			for n, e := range taken {
				b.restore(e.ID)
				if got, want := b.read("a.txt"), fmt.Sprintln("change", n); got != want {
					t.Errorf("restored %d: %q", n, got)
				}
			}
			b.healthy()
		})
	}
}

// TestLostRecordCommits: the commit of a record is made again, to its id, where what
// is in the record is whole: a first one, one in the middle, neighbours, the newest,
// one that follows a change of mission data alone, of a fork, and of a time that the
// clock was set back. One that is damaged is as good as one that is lost.
func TestLostRecordCommits(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string][]int{
		"first": {0}, "middle": {2}, "neighbours": {2, 3}, "after a renaming": {4}, "the clock set back": {5, 6}, "of a fork": {7}, "newest": {8}, "all": {0, 1, 2, 3, 4, 5, 6, 7, 8},
	} {
		t.Run(name, func(t *testing.T) {
			b, m, taken := storied(t)
			for _, n := range lost {
				b.loseObject(m, b.recordOf(m, taken[n]))
			}
			if name == "middle" {
				record := b.recordOf(m, taken[1])
				b.loseObject(m, record)
				b.put(filepath.Join(m.ShadowRepo, "objects", record[:2], record[2:]), "not an object")
			}
			b = b.again()
			b.mended(name)
			if keep := b.git("--git-dir", m.ShadowRepo, "for-each-ref", "refs/keep", "refs/pins"); keep != "" {
				t.Errorf("it was kept in pieces: %s", keep)
			}
			for _, n := range []int{0, 2, 5, 8} {
				b.restore(taken[n])
				if got, want := b.read("a.txt"), fmt.Sprintln("change", n); got != want {
					t.Errorf("restored %d: %q", n, got)
				}
			}
			b.healthy()
		})
	}
}

// storied is a mission that was renamed, whose clock was set back, and of which there
// is a fork: its snapshots, of which one is the fork's.
func storied(t *testing.T) (*testBench, Mission, []string) {
	t.Helper()
	b := newBench(t)
	next := func(taken []string) string { return fmt.Sprintln("change", len(taken)) }
	b.write("a.txt", next(nil))
	m := b.mission("work")
	taken := []string{m.Head}
	change := func() {
		t.Helper()
		b.write("a.txt", next(taken))
		e, err := b.local.Snapshot(context.Background(), SnapshotRequest{Caller: b.caller(), Mission: m.ID})
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, e.ID)
	}
	for range 3 {
		change()
	}
	if _, err := b.local.Rename(context.Background(), RenameRequest{Caller: b.caller(), Mission: "work", Name: "renamed"}); err != nil {
		t.Fatal(err)
	}
	change()
	b.local.clock = func() time.Time { return time.Now().Add(-time.Hour) }
	change()
	change()
	b.local.clock = time.Now
	fork, err := b.local.Fork(context.Background(), ForkRequest{Caller: b.caller(), From: "renamed", Name: "beside"})
	if err != nil {
		t.Fatal(err)
	}
	b.put(filepath.Join(fork.Missions[0].Workspace, "a.txt"), next(taken))
	e, err := b.local.Snapshot(context.Background(), SnapshotRequest{Caller: b.caller(), Mission: "beside"})
	if err != nil {
		t.Fatal(err)
	}
	taken = append(taken, e.ID)
	change()
	return b, m, taken
}
