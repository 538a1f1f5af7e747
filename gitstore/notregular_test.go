package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestNoFileIsWaitedFor: whatever stands in the place of a file of the user's
// objects keeps nobody waiting. It is damage, the rest is read and borrowed, and
// nothing but files comes here.
func TestNoFileIsWaitedFor(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	fifo := func(path string) error { return syscall.Mkfifo(path, 0o644) }
	device := func(path string) error { return os.Symlink("/dev/zero", path) }
	link := func(path string) error {
		return errors.Join(fifo(path+".fifo"), os.Symlink(path+".fifo", path))
	}
	for name, c := range map[string]struct {
		suffix string // of the pack's file, or "loose"
		put    func(string) error
	}{
		"a FIFO for an object":     {"loose", fifo},
		"a device for an object":   {"loose", device},
		"a link for an object":     {"loose", link},
		"a FIFO for a pack":        {".pack", fifo},
		"a device for a pack":      {".pack", device},
		"a FIFO for an index":      {".idx", fifo},
		"a device for an index":    {".idx", device},
		"a FIFO for a reverse one": {".rev", fifo},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLender(t)
			l.git("repack", "-q", "-a", "-d")
			l.write("loose", "the one\n")
			l.write("other", "another\n")
			l.git("add", ".")
			l.git("commit", "-q", "-m", "loose")
			_, wanted := l.tree()
			objects := filepath.Join(l.dir, ".git", "objects")
			lost := HashObject(TypeBlob, []byte("the one\n"))
			path := filepath.Join(objects, lost.String()[:2], lost.String()[2:])
			if c.suffix != "loose" {
				path = strings.TrimSuffix(must[[]string](t)(filepath.Glob(filepath.Join(objects, "pack", "*.pack")))[0], ".pack") + c.suffix
			}
			if err := os.Remove(path); err != nil && c.suffix != ".rev" {
				t.Fatal(err)
			}
			noErr(t, c.put(path))

			from := l.objects()
			unread := 0
			for _, w := range wanted {
				if _, _, err := from.Object(w.ID); err != nil {
					unread++
				}
				if r, _, err := from.BlobReader(w.ID); err == nil {
					r.Close()
				}
			}
			s := newStore(t)
			done := must[Borrowed](t)(s.Borrow(ctx, from, wanted))
			had := 0
			for i, w := range wanted {
				if !done.Have[i] {
					continue
				}
				had++
				if _, _, err := s.Object(w.ID); err != nil {
					t.Errorf("%s: %v", w.ID, err)
				}
			}
			if want := map[string]int{"loose": 1, ".pack": len(wanted) - 2, ".idx": len(wanted) - 2}[c.suffix]; unread != want || had != len(wanted)-want {
				t.Errorf("%d of %d were not read, %d had; want %d", unread, len(wanted), had, want)
			}
			noErr(t, filepath.WalkDir(filepath.Join(s.Dir(), "objects"), func(path string, e os.DirEntry, err error) error {
				if err == nil && !e.IsDir() && !e.Type().IsRegular() {
					t.Errorf("%s is a %v", path, e.Type())
				}
				return err
			}))
			fsck(t, s)
		})
	}
}

// TestDirectoryForFile: a directory in the place of a file of a shadow repository is
// found and set aside with what is in it, and the file can be written again.
func TestDirectoryForFile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newStore(t)
	b := s.NewBatch()
	defer b.Discard()
	tip := commitFiles(t, b, 1, map[string]string{"loose": "the one\n", "other": "another\n"})
	noErr(t, b.Flush(ctx))
	noErr(t, s.UpdateRef(ctx, AgentRef(testMission), ID{}, tip, Durable))
	must[SweepStats](t)(s.Sweep(ctx))
	replace := func(path string) {
		t.Helper()
		noErr(t, os.Remove(path))
		noErr(t, os.MkdirAll(filepath.Join(path, "in it"), 0o755))
	}
	isDir := func(path string) {
		t.Helper()
		if info, err := os.Stat(filepath.Join(path, "in it")); err != nil || !info.IsDir() {
			t.Errorf("what was in the directory is not in %s: %v", path, err)
		}
	}

	id := HashObject(TypeBlob, []byte("the one\n"))
	replace(s.own().loosePath(id))
	var rotten []RottenFile
	for _, p := range must[[]Problem](t)(s.Check(ctx)) {
		rotten = append(rotten, p.Rotten...)
	}
	if len(rotten) != 1 || rotten[0].Path != s.own().loosePath(id) || !strings.Contains(rotten[0].Why, "directory") {
		t.Fatalf("found %+v", rotten)
	}
	aside := must[string](t)(s.Salvage(ctx, rotten, nil))
	isDir(filepath.Join(aside, id.String()))
	s.Distrust(id)
	again := s.NewBatch()
	defer again.Discard()
	must[ID](t)(again.Write(TypeBlob, []byte("the one\n")))
	noErr(t, again.Flush(ctx))
	for _, left := range must[[]Problem](t)(s.Check(ctx)) {
		if len(left.Rotten)+len(left.Lost) > 0 || left.Ref == "" {
			t.Errorf("left: %+v", left)
		}
	}

	for range 2 { // beside what was set aside before
		for _, name := range []string{"config", "HEAD"} {
			replace(filepath.Join(s.Dir(), name))
		}
		if err := CheckConfig(s.Dir(), s.ProjectID()); err == nil {
			t.Error("nothing was found")
		}
		noErr(t, RepairConfig(s.Dir(), s.ProjectID()))
		noErr(t, CheckConfig(s.Dir(), s.ProjectID()))
	}
	for _, name := range []string{"config.damaged", "config.damaged.2", "HEAD.damaged", "HEAD.damaged.2"} {
		isDir(filepath.Join(s.Dir(), name))
	}
}
