package missions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scattered is a bench with a mission whose first snapshot is in a pack of the
// shadow repository's own.
func scattered(t *testing.T) (*testBench, Mission) {
	t.Helper()
	b := newBench(t)
	for i := range 100 {
		b.write(fmt.Sprintf("d%d/f%d", i%3, i), strings.Repeat(fmt.Sprintf("line of %d\n", i), 3+i))
	}
	return b, b.mission("work")
}

// packs are the files of the shadow repository's packs that end so.
func (m *Mission) packs(t *testing.T, suffix string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.ShadowRepo, "objects/pack/*"+suffix))
	if err != nil || len(files) == 0 {
		t.Fatalf("no %s: %v", suffix, err)
	}
	return files
}

// TestPackGoneUnderneath: a process that has the project open takes whole
// snapshots of a workspace though a pack that its index still names is gone.
func TestPackGoneUnderneath(t *testing.T) {
	b, m := scattered(t)
	for _, pack := range m.packs(t, ".pack") {
		if err := os.Remove(pack); err != nil {
			t.Fatal(err)
		}
	}
	b.mission("another")
	b = b.again()
	for i := range 100 {
		name := fmt.Sprintf("d%d/f%d", i%3, i)
		if got := b.cat("another@start", name); got != b.read(name) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
