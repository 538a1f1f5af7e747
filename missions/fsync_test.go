package missions

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
	m, err := b.local.missionByID(b.mission("work").ID)
	if err != nil {
		t.Fatal(err)
	}
	for round, files := range []int{1, 1, 100, 1, 0} {
		for n := range files {
			b.write(fmt.Sprintf("d%d/f%d.txt", n%7, n), fmt.Sprintf("%d in round %d\n", n, round))
		}
		before := m.project.store.Fsyncs()
		b.snapshot(fmt.Sprintf("round %d", round))
		if took := m.project.store.Fsyncs() - before; took > 5 || took == 0 {
			t.Errorf("%d fsyncs for %d files", took, files)
		}
	}
}
