package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// crossing has each rename from the journal fail, as where a quota parts it from
// the workspace and only a rename tells.
func (b *testBench) crossing(times int64) (tries *atomic.Int64) {
	tries = new(atomic.Int64)
	b.local.RestoreStep = func(step string) error {
		if !strings.HasPrefix(step, "exchange ") {
			return nil
		}
		if tries.Add(1) > times {
			return nil
		}
		return &os.LinkError{Op: "exchange", Err: beneath.ErrCrossDevice}
	}
	return tries
}

// TestRestoreBeside stages in the workspace where only the first rename tells
// that the journal is out of reach.
func TestRestoreBeside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "zero\n")
	b.mission("work")
	b.write("a.txt", "one\n")
	restore := func() error {
		_, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start", All: true})
		return err
	}
	holds := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(projects.AbsolutePath(b.dir, "a.txt")); err != nil || string(got) != want {
			t.Errorf("a.txt: %q %v, want %q", got, err, want)
		}
		entries, err := os.ReadDir(b.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".umbra-") {
				t.Errorf("%s is left", e.Name())
			}
		}
	}
	b.crossing(2)
	if err := restore(); !errors.Is(err, beneath.ErrCrossDevice) {
		t.Errorf("it fails beside too: %v", err)
	}
	holds("one\n")
	tries := b.crossing(1)
	if err := restore(); err != nil {
		t.Fatal(err)
	}
	if tries.Load() != 2 {
		t.Errorf("%d renames", tries.Load())
	}
	holds("zero\n") // and nothing that was set aside
	b.healthy()
}

// scratch lists what restores have left in the workspace.
func (b *testBench) scratch() []string {
	b.Helper()
	var left []string
	err := filepath.WalkDir(b.dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".umbra-") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return left
}

// TestRestoreBesideOpenFile: what a restore took away stays in the workspace only
// while somebody can write to it: doctor says so, and what was written is recorded
// before it goes.
func TestRestoreBesideOpenFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "zero\n")
	b.write("b.txt", "zero\n")
	id := b.mission("work").ID
	b.write("a.txt", "one\n")
	b.write("b.txt", "one\n")
	b.snapshot("second")
	held, err := os.OpenFile(projects.AbsolutePath(b.dir, "a.txt"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.crossing(1)
	b.restore("work@start")
	if left := b.scratch(); len(left) != 1 {
		t.Fatalf("left: %v", left)
	}
	doctor := func(fix bool) missions.DoctorResult {
		t.Helper()
		d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: fix})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	named := func(d missions.DoctorResult) bool {
		return len(d.Problems) == 1 && d.Problems[0].Invariant == "I5" && strings.Contains(d.Problems[0].Message, b.scratch()[0])
	}
	if d := doctor(false); !named(d) {
		t.Errorf("doctor: %+v", d.Problems)
	}
	if _, err := held.WriteString("late\n"); err != nil {
		t.Fatal(err)
	}
	if d := doctor(true); !named(d) || !strings.Contains(d.Problems[0].Message, "fuser -v ") {
		t.Errorf("doctor --fix while it is open: %+v", d)
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if d := doctor(true); len(d.Problems) > 0 || len(d.Fixed) != 1 || len(b.scratch()) > 0 {
		t.Errorf("doctor --fix: %+v, %v", d, b.scratch())
	}
	m, err := b.local.MissionByID(id)
	if err != nil {
		t.Fatal(err)
	}
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	late, err := batch.Blob([]byte("one\nlate\n"))
	if err != nil {
		t.Fatal(err)
	}
	if known, err := snapshots.DisplacedSince(m, ""); err != nil || !known.Holds("a.txt", late) {
		t.Errorf("the records hold %v, %v", known, err)
	}
	b.healthy()
}
