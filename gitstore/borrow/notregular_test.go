package borrow

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
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
			lost := gitstore.HashObject(gitstore.TypeBlob, []byte("the one\n"))
			path := filepath.Join(objects, lost.String()[:2], lost.String()[2:])
			if c.suffix != "loose" {
				path = strings.TrimSuffix(storetest.Must[[]string](t)(filepath.Glob(filepath.Join(objects, "pack", "*.pack")))[0], ".pack") + c.suffix
			}
			if err := os.Remove(path); err != nil && c.suffix != ".rev" {
				t.Fatal(err)
			}
			storetest.NoErr(t, c.put(path))

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
			s := storetest.New(t)
			done := storetest.Must[Borrowed](t)(Borrow(ctx, s, from, wanted))
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
			storetest.NoErr(t, filepath.WalkDir(filepath.Join(s.Dir(), "objects"), func(path string, e os.DirEntry, err error) error {
				if err == nil && !e.IsDir() && !e.Type().IsRegular() {
					t.Errorf("%s is a %v", path, e.Type())
				}
				return err
			}))
			storetest.Fsck(t, s)
		})
	}
}
