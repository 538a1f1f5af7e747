package local

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// TestDisplacedWhileWritten: the bytes of a program that goes on writing are read
// again until they are as many as was said; one that never pauses is an error.
func TestDisplacedWhileWritten(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m, err := b.local.MissionByID(b.mission("work").ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, changing := range []int{0, 3, snapshots.MaxDisplacedTries} {
		batch := m.Project.Store.NewBatch()
		opened := 0
		d := snapshots.DisplacedFile{Path: "a.txt", Open: func() (io.ReadCloser, int64, error) {
			opened++
			if opened <= changing {
				return io.NopCloser(strings.NewReader("more and more")), 4, nil
			}
			return io.NopCloser(strings.NewReader("more")), 4, nil
		}}
		_, err := d.Store(batch)
		if (err == nil) != (changing < snapshots.MaxDisplacedTries) || opened != min(changing+1, snapshots.MaxDisplacedTries) {
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
	held, err := os.OpenFile(projects.AbsolutePath(b.dir, "dir/a.txt"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start", All: true}); err != nil {
		t.Fatal(err)
	}
	_, err = held.WriteString("late\n")
	if err := errors.Join(err, held.Close()); err != nil {
		t.Fatal(err)
	}
	load := func() *projects.Mission {
		t.Helper()
		m, err := b.local.MissionByID(id)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	batch := load().Project.Store.NewBatch()
	late, err := batch.Blob([]byte("two\nlate\n"))
	if err := errors.Join(err, batch.Flush(context.Background())); err != nil {
		t.Fatal(err)
	}
	b.snapshot("after the restore") // which settles what was set aside
	known, err := snapshots.DisplacedSince(load(), "")
	if err != nil || !known.Holds("dir/a.txt", late) {
		t.Errorf("the records hold %v, not %s (%v)", known, late, err)
	}
	b.snapshot("and after that")
	if list, err := snapshots.DisplacedFiles(load()); err != nil || len(list) != 1 || list[0].ID != late {
		t.Errorf("nobody has put it back, and what waits is %v, %v", list, err)
	}
	if m, err := b.local.MissionByID(b.fork("other").ID); err != nil {
		t.Error(err)
	} else if list, err := snapshots.RecordedDisplaced(m.Project, m.Record); err != nil || len(list) > 0 {
		t.Errorf("a fork has of its parent's %v, %v", list, err)
	}
	b.healthy()
	if entries, err := os.ReadDir(b.local.Home.Path("journal")); err != nil || len(entries) > 2 {
		t.Errorf("the journal is not empty: %v, %v", entries, err)
	}
	if since, err := snapshots.DisplacedSince(load(), load().Tip.ID.String()); err != nil || len(since) > 0 {
		t.Errorf("since the newest snapshot: %v, %v", since, err)
	}
}

// TestSameBytesDisplacedAtTwoPaths: bytes that a record holds of one path are recorded of
// another one too, since who lost them there looks for them there.
func TestSameBytesDisplacedAtTwoPaths(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	paths := []string{"a.txt", "b.txt"}
	var held []*os.File
	for _, path := range paths {
		b.write(path, "one\n")
	}
	id := b.mission("work").ID
	for _, path := range paths {
		b.write(path, "two\n")
		file, err := os.OpenFile(projects.AbsolutePath(b.dir, path), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, file)
	}
	if _, err := b.local.Restore(t.Context(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start", All: true}); err != nil {
		t.Fatal(err)
	}
	for _, file := range held {
		_, err := file.WriteString("late\n")
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
		b.snapshot("which settles what was set aside")
	}
	m, err := b.local.MissionByID(id)
	if err != nil {
		t.Fatal(err)
	}
	list, err := snapshots.DisplacedFiles(m)
	if err != nil || len(list) != 2 || list[0].Path != "a.txt" || list[1].Path != "b.txt" || list[0].ID != list[1].ID {
		t.Errorf("what waits is %v, %v", list, err)
	}
	b.healthy()
}

// TestDisplacedLogStays: a program's log that a restore set aside is not put beside the
// database of another moment, and its database alone is not put back either.
func TestDisplacedLogStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	page := func(fill string) string { return "SQLite format 3\x00" + strings.Repeat(fill, 496) }
	b.write("app.db", page("1"))
	b.mission("work")
	b.write("app.db", page("2"))
	b.write("app.db-wal", "two\n")
	b.snapshot("before the restore")
	files := []string{"app.db", "app.db-wal"}
	held := map[string]*os.File{}
	for _, name := range files {
		file, err := os.OpenFile(projects.AbsolutePath(b.dir, name), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		held[name] = file
	}
	if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start", All: true}); err != nil {
		t.Fatal(err)
	}
	for _, file := range held {
		_, err := file.WriteString(strings.Repeat("late\n", 512)) // whole pages
		if err := errors.Join(err, file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	b.snapshot("after the restore") // which settles what was set aside
	for _, paths := range [][]string{nil, {"app.db"}, {"app.db-wal"}} {
		asked := missions.RestoreRequest{Caller: b.caller(), Mission: "work", Displaced: true, Paths: paths, All: true}
		r, err := b.local.Restore(context.Background(), asked)
		if paths == nil {
			paths = files
		}
		var kept []string
		for _, k := range r.Kept {
			if strings.Contains(k.Reason, "another moment") {
				kept = append(kept, k.Path)
			}
		}
		if slices.Sort(kept); err != nil || !slices.Equal(kept, paths) || b.read("app.db") != page("1") {
			t.Errorf("%q: kept %+v, %v", paths, r.Kept, err)
		}
	}
	if _, err := os.Stat(projects.AbsolutePath(b.dir, "app.db-wal")); !os.IsNotExist(err) {
		t.Errorf("the log is there: %v", err)
	}
}
