package missions

import (
	"io"
	"strings"
	"testing"
)

// TestDisplacedWhileWritten: the bytes of a program that goes on writing are read
// again until they are as many as was said; one that never pauses is an error.
func TestDisplacedWhileWritten(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	m, err := b.local.missionByID(b.mission("work").ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, changing := range []int{0, 3, displacedTries} {
		batch := m.project.store.NewBatch()
		opened := 0
		d := displaced{path: "a.txt", open: func() (io.ReadCloser, int64, error) {
			opened++
			if opened <= changing {
				return io.NopCloser(strings.NewReader("more and more")), 4, nil
			}
			return io.NopCloser(strings.NewReader("more")), 4, nil
		}}
		_, err := d.store(batch)
		if (err == nil) != (changing < displacedTries) || opened != min(changing+1, displacedTries) {
			t.Errorf("with %d changes: opened %d times, %v", changing, opened, err)
		}
		batch.Discard()
	}
}
