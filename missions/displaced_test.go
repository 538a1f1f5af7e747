package missions

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// TestDisplacedWhileWritten: the bytes of a program that goes on writing are read
// again until they are as many as was said; one that never pauses is an error.
func TestDisplacedWhileWritten(t *testing.T) {
	t.Parallel()
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

// TestStoredIsNotRecorded: bytes that a program writes into a file that a restore
// has taken away are in a record before the file goes, also where they are stored
// already: a process that was killed before it published its record leaves them so.
func TestStoredIsNotRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("dir/a.txt", "one\n")
	id := b.mission("work").ID
	b.write("dir/a.txt", "two\n")
	b.snapshot("before the restore")
	held, err := os.OpenFile(joinPath(b.dir, "dir/a.txt"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Restore(context.Background(), RestoreRequest{Caller: b.caller(), Moment: "work@start", All: true}); err != nil {
		t.Fatal(err)
	}
	_, err = held.WriteString("late\n")
	if err := errors.Join(err, held.Close()); err != nil {
		t.Fatal(err)
	}
	load := func() *loaded {
		t.Helper()
		m, err := b.local.missionByID(id)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	batch := load().project.store.NewBatch()
	late, err := batch.Blob([]byte("two\nlate\n"))
	if err := errors.Join(err, batch.Flush(context.Background())); err != nil {
		t.Fatal(err)
	}
	b.snapshot("after the restore") // which settles what was set aside
	known, err := load().recordedSince("")
	if err != nil || !known[late] {
		t.Errorf("the records hold %v, not %s (%v)", known, late, err)
	}
	b.snapshot("and after that")
	b.healthy()
	if entries, err := os.ReadDir(b.local.home.path("journal")); err != nil || len(entries) > 2 {
		t.Errorf("the journal is not empty: %v, %v", entries, err)
	}
	if since, err := load().recordedSince(load().tip.ID.String()); err != nil || len(since) > 0 {
		t.Errorf("since the newest snapshot: %v, %v", since, err)
	}
}
