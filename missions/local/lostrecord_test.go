package local

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// recordOf is the id of the record that a snapshot names.
func (b *testBench) recordOf(m missions.Mission, snapshot string) string {
	b.Helper()
	return strings.TrimSpace(b.git("--git-dir", m.ShadowRepo, "log", "-1", "--format=%(trailers:key=Umbra-Record,valueonly)", snapshot))
}

// lostInTheMiddle is a mission of some snapshots of which something in the record of
// a middle one is lost: all of it, or a file.
func lostInTheMiddle(t *testing.T, file string) (b *testBench, m missions.Mission, taken []missions.Entry, lost int) {
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
	for name, file := range map[string]string{"all of it": "", "the mission in it": ":" + projects.MissionDoc, "the snapshot in it": ":" + projects.SnapshotDoc} {
		t.Run(name, func(t *testing.T) {
			b, m, taken, lost := lostInTheMiddle(t, file)
			for round, state := range []string{"can't be read", "lost for good"} {
				d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: round > 0})
				said := state + " in snapshot " + taken[lost].ID[:10] + ": what was recorded with the files"
				if err != nil || len(d.Problems) != 1 || d.Problems[0].Mission != "work" || !strings.HasPrefix(d.Problems[0].Message, said) {
					t.Errorf("round %d: %+v, fixed %+v, %v, not %q", round, d.Problems, d.Fixed, err, said)
				}
			}
			b.knownLost(taken[lost].ID)
			b = b.again()
			for n, e := range taken {
				if got, want := b.cat(e.ID, "a.txt"), fmt.Sprintln("change", n); got != want {
					t.Errorf("snapshot %d holds %q", n, got)
				}
			}
			for n, e := range slices.Backward(taken) {
				r, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: e.ID})
				if n == lost && file != ":"+projects.SnapshotDoc {
					continue
				}
				if want := fmt.Sprintln("change", n); err != nil || !r.Done || b.read("a.txt") != want {
					t.Errorf("restored %d: %q, %v", n, b.read("a.txt"), err)
				}
			}
			if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()}); err != nil {
				t.Errorf("undo: %v", err)
			}
			for n, at := range map[int]string{0: taken[0].ID, 4: taken[4].ID} {
				made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: at, Name: fmt.Sprint("fork-", n), Workspace: filepath.Join(b.dir, "..", fmt.Sprint("fork-", n))})
				if err != nil || len(made.Missions) != 1 {
					t.Errorf("fork of %d: %v", n, err)
				}
			}
			b.write("a.txt", "after\n")
			after, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: "work"})
			if err != nil {
				t.Fatal(err)
			}
			list := b.history("work")
			if len(list) < 7 || list[0].ID != after.ID || list[len(list)-1].ID != m.Head || !slices.ContainsFunc(list, func(e missions.Entry) bool { return e.ID == taken[lost].ID }) {
				t.Errorf("history: %+v", list)
			}
		})
	}
}

// TestLostSharedDocuments: what the records of all snapshots share is written again,
// from a workspace in which it still holds. Each can be restored then.
func TestLostSharedDocuments(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{projects.RulesDoc, projects.SkippedDoc, projects.ModesDoc} {
		t.Run(doc, func(t *testing.T) {
			b, _, taken, _ := lostInTheMiddle(t, ":"+doc)
			_, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: taken[0].ID})
			b.fails("restore", err, missions.KindDamaged)
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
