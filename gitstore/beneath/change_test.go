//go:build linux

package beneath

import (
	"io/fs"
	"testing"

	"golang.org/x/sys/unix"
)

func TestExchange(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		other, err := Open(t.TempDir())
		must(t, err)
		defer other.Close()
		put(t, r, "a", "old")
		put(t, other, "b", "new")
		must(t, Exchange(r, "a", other, "b"))
		if get(t, r, "a") != "new" || get(t, other, "b") != "old" {
			t.Error("not exchanged")
		}
		must(t, r.Mkdir("d", 0o755))
		must(t, r.Symlink("x", "l"))
		must(t, Exchange(r, "d", r, "l"))
		want(t, Exchange(r, "a", r, "none"), fs.ErrNotExist)
	})
}

func TestRenameNoReplace(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		put(t, r, "a", "a")
		put(t, r, "b", "b")
		want(t, RenameNoReplace(r, "a", r, "b"), fs.ErrExist)
		want(t, Link(r, "a", r, "b"), fs.ErrExist)
		if get(t, r, "a") != "a" || get(t, r, "b") != "b" {
			t.Error("a refused rename changed something")
		}
		must(t, RenameNoReplace(r, "a", r, "c"))
		must(t, Rename(r, "c", r, "b"))
		if get(t, r, "b") != "a" {
			t.Error("not renamed")
		}
	})
}

func TestWithoutExchange(t *testing.T) {
	r, err := OpenWith(t.TempDir(), Options{NoExchange: true})
	must(t, err)
	defer r.Close()
	put(t, r, "a", "a")
	put(t, r, "b", "b")
	want(t, Exchange(r, "a", r, "b"), ErrNoExchange)
	want(t, RenameNoReplace(r, "a", r, "c"), ErrNoExchange)
	must(t, Rename(r, "a", r, "c"))
	must(t, Link(r, "b", r, "a"))
}

// A second file system is mounted for the test; being another, its renames
// fail with EXDEV, and the error must be told apart.
func TestAcrossFileSystems(t *testing.T) {
	mount := t.TempDir()
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no second file system: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(mount, unix.MNT_DETACH) })
	there, err := Open(mount)
	must(t, err)
	defer there.Close()
	here, err := Open(t.TempDir())
	must(t, err)
	defer here.Close()
	put(t, here, "a", "a")
	put(t, there, "b", "b")
	want(t, Rename(here, "a", there, "c"), ErrCrossDevice)
	want(t, RenameNoReplace(here, "a", there, "c"), ErrCrossDevice)
	want(t, Exchange(here, "a", there, "b"), ErrCrossDevice)
	want(t, Link(here, "a", there, "c"), ErrCrossDevice)
}

func TestChmodNeedsNoReadPermission(t *testing.T) {
	bothWays(t, func(t *testing.T, r *Root) {
		put(t, r, "f", "")
		must(t, r.Chmod("f", 0))
		must(t, r.Chmod("f", 0o4751))
		st, err := r.Lstat("f")
		must(t, err)
		if st.Perm() != 0o4751 || !st.Executable() {
			t.Errorf("mode %o", st.Mode)
		}
	})
}
