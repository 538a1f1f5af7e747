package fork

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestForkHasAllAttributes: an ignored file comes along with all of its extended
// attributes, also those that no record holds.
func TestForkHasAllAttributes(t *testing.T) {
	l := newLab(t)
	l.write(".gitignore", "/ignored\n")
	l.write("ignored", "content")
	const odd = "user.\xff"
	if err := unix.Setxattr(filepath.Join(l.top, "ignored"), odd, []byte("kept"), 0); err != nil {
		t.Skipf("SKIPPED, NOT SHOWN: no extended attributes here: %v", err)
	}
	l.initGit()
	made := l.fork(l.snapshot(), l.target("fork"))
	value := make([]byte, 16)
	n, err := unix.Getxattr(filepath.Join(made.Workspace, "ignored"), odd, value)
	if err != nil || string(value[:n]) != "kept" {
		t.Errorf("the copy has %q, %v", value[:max(n, 0)], err)
	}
}

// posixACL is an ACL as the kernel stores it: version 2, then tag, rights and id of the
// owner, user 12345, group, mask and others.
func posixACL(owner, user, group, mask, other byte) []byte {
	out := []byte{2, 0, 0, 0}
	for _, e := range [][2]byte{{1, owner}, {2, user}, {4, group}, {16, mask}, {32, other}} {
		id := []byte{0xff, 0xff, 0xff, 0xff}
		if e[0] == 2 {
			id = []byte{0x39, 0x30, 0, 0}
		}
		out = append(append(out, e[0], 0, e[1], 0), id...)
	}
	return out
}

const accessACL, defaultACL = "system.posix_acl_access", "system.posix_acl_default"

// setACL skips the test where there are no ACLs.
func setACL(t *testing.T, path, name string, acl []byte) {
	t.Helper()
	switch err := unix.Setxattr(path, name, acl, 0); err {
	case nil:
	case unix.ENOTSUP:
		t.Skip("SKIPPED, NOT SHOWN: this file system has no ACLs")
	default:
		t.Fatal(err)
	}
}

// wantRights asks for a file's mode and ACL, nil for none.
func wantRights(t *testing.T, path string, mode fs.FileMode, acl []byte) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 256)
	n, err := unix.Getxattr(path, accessACL, value)
	if n = max(n, 0); info.Mode().Perm() != mode || !bytes.Equal(value[:n], acl) {
		t.Errorf("%s: mode %o, ACL %x (%v), want %o and %x", path, info.Mode().Perm(), value[:n], err, mode, acl)
	}
}

// TestIgnoredDirectoriesKeepACLs: the group's bits of a directory with an ACL are the ACL's
// mask, and are not given to the group of a copy. A default ACL where the fork is made gives
// nobody more than the source did.
func TestIgnoredDirectoriesKeepACLs(t *testing.T) {
	l := newLab(t)
	for _, path := range []string{"ignored/shared/file", "ignored/plain/file"} {
		l.write(path, "content")
		if err := os.Chmod(filepath.Join(l.top, filepath.Dir(path)), 0o770); err != nil {
			t.Fatal(err)
		}
	}
	shared := posixACL(7, 7, 0, 7, 0)
	setACL(t, filepath.Join(l.top, "ignored/shared"), accessACL, shared)
	l.write(".gitignore", "/ignored/\n")
	l.initGit()
	for name, above := range map[string][]byte{"plain": nil, "default": posixACL(7, 7, 5, 7, 5)} {
		target := l.target(name)
		target.Directory = filepath.Join(filepath.Dir(target.Directory), "in-"+name, name)
		if err := os.MkdirAll(filepath.Dir(target.Directory), 0o777); err != nil {
			t.Fatal(err)
		}
		if above != nil {
			setACL(t, filepath.Dir(target.Directory), defaultACL, above)
		}
		made := l.fork(l.snapshot(), target)
		wantRights(t, filepath.Join(made.Workspace, "ignored/shared"), 0o770, shared)
		wantRights(t, filepath.Join(made.Workspace, "ignored/plain"), 0o770, nil)
	}
}
