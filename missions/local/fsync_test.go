package local

import (
	"fmt"
	"testing"
)

// TestSnapshotFsyncs counts how often a whole snapshot waits for the disk,
// whatever its size.
func TestSnapshotFsyncs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "zero\n")
	m, err := b.local.MissionByID(b.mission("work").ID)
	if err != nil {
		t.Fatal(err)
	}
	for round, files := range []int{1, 1, 100, 1, 0} {
		for n := range files {
			b.write(fmt.Sprintf("d%d/f%d.txt", n%7, n), fmt.Sprintf("%d in round %d\n", n, round))
		}
		before := m.Project.Store.Fsyncs()
		b.snapshot(fmt.Sprintf("round %d", round))
		if took := m.Project.Store.Fsyncs() - before; took > 5 || took == 0 {
			t.Errorf("%d fsyncs for %d files", took, files)
		}
	}
}
