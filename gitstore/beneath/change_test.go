//go:build linux

package beneath

import (
	"io/fs"
	"os"
	"path/filepath"
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

func TestCopyAttributes(t *testing.T) {
	r, err := Open(t.TempDir())
	must(t, err)
	defer r.Close()
	put(t, r, "from", "old")
	from, _, err := r.Open("from")
	must(t, err)
	defer from.Close()
	to, err := r.Create("to", 0o600)
	must(t, err)
	defer to.Close()

	path := filepath.Join(r.Path(), "from")
	must(t, unix.Setxattr(path, "user.colour", []byte("blue"), 0))
	// A POSIX ACL as the kernel stores it: version 2, then tag, permissions
	// and id of the owner, user 12345, group, mask and others.
	acl := []byte{2, 0, 0, 0,
		1, 0, 6, 0, 0xff, 0xff, 0xff, 0xff,
		2, 0, 6, 0, 0x39, 0x30, 0, 0,
		4, 0, 4, 0, 0xff, 0xff, 0xff, 0xff,
		0x10, 0, 6, 0, 0xff, 0xff, 0xff, 0xff,
		0x20, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}
	must(t, unix.Setxattr(path, "system.posix_acl_access", acl, 0))
	wantUID := os.Getuid()
	if wantUID == 0 {
		wantUID = 12345
		must(t, r.Chown("from", wantUID, 54321))
	}

	if left := CopyAttributes(from, to, 0o760); len(left) != 0 {
		t.Errorf("not carried: %v", left)
	}
	st, err := r.Lstat("to")
	must(t, err)
	if int(st.UID) != wantUID || st.Perm() != 0o760 {
		t.Errorf("owner %d mode %o", st.UID, st.Perm())
	}
	for _, name := range []string{"user.colour", "system.posix_acl_access"} {
		a, err := xattrValue(int(from.Fd()), name)
		must(t, err)
		b, err := xattrValue(int(to.Fd()), name)
		must(t, err)
		if name == "user.colour" && string(a) != string(b) || len(a) != len(b) {
			t.Errorf("%s: %q and %q", name, a, b)
		}
	}
}

func TestCopyAttributesReportsWhatIsLeft(t *testing.T) {
	r, err := Open(t.TempDir())
	must(t, err)
	defer r.Close()
	put(t, r, "from", "")
	must(t, unix.Setxattr(filepath.Join(r.Path(), "from"), "user.big", []byte("x"), 0))
	from, _, err := r.Open("from")
	must(t, err)
	defer from.Close()
	// /dev/null carries no user attributes: they are for regular files.
	to, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(t, err)
	defer to.Close()
	left := copyXattrs(int(from.Fd()), int(to.Fd()))
	if len(left) != 1 || left[0].What != "xattr user.big" || left[0].Err == nil {
		t.Errorf("left: %v", left)
	}
}
