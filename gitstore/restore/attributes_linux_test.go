package restore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"golang.org/x/sys/unix"
)

// posixACL is an ACL as the kernel stores it: version 2, then tag, rights and id of the
// owner, user 12345, group, mask and others.
func posixACL(owner, user, group, mask, other byte) string {
	const nobody = "\xff\xff\xff\xff"
	return "\x02\x00\x00\x00" +
		"\x01\x00" + string(owner) + "\x00" + nobody +
		"\x02\x00" + string(user) + "\x00\x39\x30\x00\x00" +
		"\x04\x00" + string(group) + "\x00" + nobody +
		"\x10\x00" + string(mask) + "\x00" + nobody +
		"\x20\x00" + string(other) + "\x00" + nobody
}

// netRaw is cap_net_raw+ep as the kernel stores it: version 2, effective, then the sets.
const netRaw = "\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

func (l *lab) xattr(name, attribute, value string) {
	l.t.Helper()
	l.must(unix.Setxattr(l.path(name), attribute, []byte(value), 0))
}

// asRoot skips a test that gives files to other users.
func asRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT SHOWN: only root may give files to other users")
	}
}

// attributes describes everything but content.
func (l *lab) attributes(names ...string) map[string]string {
	l.t.Helper()
	out := map[string]string{}
	for _, name := range names {
		var st unix.Stat_t
		l.must(unix.Lstat(l.path(name), &st))
		is := fmt.Sprintf("%d:%d %o names %d time %d sparse %v", st.Uid, st.Gid, st.Mode&0o7777, st.Nlink, st.Mtim.Nano(), st.Blocks*512 < st.Size)
		list := make([]byte, 4096)
		n, err := unix.Llistxattr(l.path(name), list)
		l.must(err)
		keys := strings.Split(strings.Trim(string(list[:n]), "\x00"), "\x00")
		slices.Sort(keys)
		for _, key := range keys {
			value := make([]byte, 4096)
			if n, err := unix.Lgetxattr(l.path(name), key, value); err == nil {
				is += fmt.Sprintf(" %s=%x", key, value[:n])
			}
		}
		out[name] = is
	}
	return out
}

// carryOut remembers and applies a plan, and returns its notes as "path: what".
func (l *lab) carryOut(p *Plan) (notes []string) {
	l.t.Helper()
	l.must(p.Remember(l.ws))
	*p = *l.throughJSON(p)
	o := l.begin(p, PrepareOptions{})
	outcome, err := o.work.Apply(context.Background())
	l.must(err)
	for _, n := range outcome.Notes {
		notes = append(notes, n.Path+": "+n.What)
	}
	o.end()
	return notes
}

func (l *lab) wantNotes(got []string, want ...string) {
	l.t.Helper()
	if !slices.Equal(got, want) {
		l.t.Errorf("notes are %q, want %q", got, want)
	}
}

func TestUndoBringsAttributesBack(t *testing.T) {
	asRoot(t)
	l := newLab(t)
	l.write("stays", "")
	before := l.capture()
	names := []string{"owned", "setuid", "program", "coloured", "shared", "closed", "d/in", "holes", "x", "y", "link", "d"}
	for _, name := range names[:8] {
		l.write(name, "content of "+name)
	}
	l.must(os.Chown(l.path("owned"), 1234, 5678))
	l.must(os.Chmod(l.path("owned"), 0o640))
	l.must(os.Chown(l.path("setuid"), 1234, 5678))
	l.must(os.Chmod(l.path("setuid"), os.ModeSetuid|os.ModeSetgid|0o755))
	l.must(os.Chmod(l.path("program"), 0o755))
	l.xattr("program", "security.capability", netRaw)
	l.xattr("coloured", "user.colour", "blue")
	l.xattr("shared", "system.posix_acl_access", posixACL(6, 6, 0, 6, 0))
	l.must(os.Chmod(l.path("closed"), 0))
	l.must(os.Truncate(l.path("holes"), 1<<20))
	l.write("x", "two names")
	l.must(os.Link(l.path("x"), l.path("y")))
	l.link("nowhere", "link")
	l.must(os.Lchown(l.path("link"), 1234, 5678))
	l.xattr("d", "system.posix_acl_default", posixACL(7, 7, 0, 7, 0))
	l.must(os.Chown(l.path("d"), 1234, 5678))
	l.must(os.Chmod(l.path("d"), os.ModeSetgid|0o750))
	for _, name := range names {
		if name != "link" {
			l.must(os.Chtimes(l.path(name), time.Unix(1e9, 0), time.Unix(1e9, 123)))
		}
	}
	want := l.attributes(names...)
	full := l.disk()

	forward := l.plan(l.capture(), before)
	l.wantNotes(l.carryOut(forward))
	for _, name := range names {
		if _, err := os.Lstat(l.path(name)); err == nil {
			t.Fatalf("%s is still there", name)
		}
	}
	back := l.inverse(forward)
	l.wantNotes(l.carryOut(back))
	l.same("after the undo", l.disk(), full)
	l.same("attributes after the undo", l.attributes(names...), want)

	again := l.inverse(back)
	l.wantNotes(l.carryOut(again))
	l.wantNotes(l.carryOut(l.inverse(again)))
	l.same("attributes after redo and undo", l.attributes(names...), want)
}

// TestHolesOfRemovedFiles: a file of which nobody knows whether it had holes gets them where
// zeros are many; one that is there has as many as before.
func TestHolesOfRemovedFiles(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	size := 1 << 20
	zeros := strings.Repeat("\x00", size)
	room := func(name string) int64 {
		var st unix.Stat_t
		l.must(unix.Stat(l.path(name), &st))
		return st.Blocks * 512
	}
	l.write("removed", "a"+zeros+"b")
	l.write("dense", "a"+zeros+"b")
	l.write("small", strings.Repeat("\x00", 32<<10))
	then := l.capture()
	l.remove("removed", "small")
	l.write("dense", "b"+zeros+"a")
	l.carryOut(l.plan(l.capture(), then))
	for name, want := range map[string]string{"removed": "a" + zeros + "b", "dense": "a" + zeros + "b"} {
		if got, err := os.ReadFile(l.path(name)); err != nil || string(got) != want {
			t.Errorf("%s has other bytes, or %v", name, err)
		}
	}
	if got := room("removed"); got > 256<<10 {
		t.Errorf("the removed file takes %d bytes", got)
	}
}

// TestRunsOfHoles: a file that is there stays without holes, also where it can't be opened. To
// count the blocks of a dense file would fail on a disk that compresses.
func TestRunsOfHoles(t *testing.T) {
	asNobody(t, func(t *testing.T) {
		dir := t.TempDir()
		root, err := beneath.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		for name, mode := range map[string]os.FileMode{"dense": 0o600, "unreadable": 0} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("dense"), mode); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			name      string
			size, run int64
		}{{"dense", 1 << 20, 0}, {"unreadable", 1 << 20, 0}, {"removed", 1 << 20, attributes.LongRun}, {"removed", attributes.LongRun - 1, 0}} {
			o, err := outfitOf(root, c.name, nil, &State{})
			if err != nil {
				t.Fatal(err)
			}
			if got := o.run(c.size); got != c.run {
				t.Errorf("of a %s file of %d bytes, runs of %d become holes, want %d", c.name, c.size, got, c.run)
			}
		}
	})
}

func TestPrivilegesAreOfOneContent(t *testing.T) {
	asRoot(t)
	l := newLab(t)
	l.write("a", "old")
	l.write("b", "old")
	before := l.capture()
	l.write("a", "new")
	l.write("b", "new")
	l.must(os.Chmod(l.path("a"), os.ModeSetuid|0o755))
	l.must(os.Chmod(l.path("b"), 0o755))
	l.xattr("b", "security.capability", netRaw)
	forward := l.plan(l.capture(), before)
	l.wantNotes(l.carryOut(forward), "a: set-ID bits or capabilities", "b: set-ID bits or capabilities")
	for name, is := range l.attributes("a", "b") {
		if strings.Contains(is, "capability") || !strings.HasPrefix(is, "0:0 644 ") {
			t.Errorf("%s with other content is %s", name, is)
		}
	}
	l.wantNotes(l.carryOut(l.inverse(forward)))
	got := l.attributes("a", "b")
	if !strings.HasPrefix(got["a"], "0:0 4755 ") || !strings.Contains(got["b"], fmt.Sprintf("%x", netRaw)) {
		t.Errorf("after the undo: %v", got)
	}
}

// TestRightsNeverWiden: what is given to a file that is made again depends on what could
// be given before.
func TestRightsNeverWiden(t *testing.T) {
	asRoot(t)
	l := newLab(t)
	l.write("secret", "s")
	l.must(os.Chmod(l.path("secret"), 0))
	l.must(os.Mkdir(l.path("d"), 0o755))
	with := l.capture()
	l.remove("secret")
	l.carryOut(l.plan(l.capture(), with))
	if is := l.attributes("secret")["secret"]; !strings.HasPrefix(is, "0:0 0 ") {
		t.Errorf("a file of mode 000 is %s", is)
	}
	// What is made in a directory with a default ACL has it, as with any new file.
	l.write("d/new", "n")
	l.must(os.Chmod(l.path("d/new"), 0o664))
	with = l.capture()
	l.remove("d/new")
	l.xattr("d", "system.posix_acl_default", posixACL(7, 6, 0, 6, 0))
	l.carryOut(l.plan(l.capture(), with))
	if is, acl := l.attributes("d/new")["d/new"], fmt.Sprintf("%x", posixACL(6, 6, 0, 6, 0)); !strings.Contains(is, acl) || !strings.HasPrefix(is, "0:0 660 ") {
		t.Errorf("in a directory with a default ACL a file is %s, want %s", is, acl)
	}
}

// acl gives a file or directory an ACL, and skips the test where there are none.
func (l *lab) acl(t *testing.T, name, attribute, value string) {
	t.Helper()
	err := unix.Setxattr(l.path(name), attribute, []byte(value), 0)
	if err == unix.ENOTSUP {
		t.Skip("SKIPPED, NOT SHOWN: this file system has no ACLs")
	}
	l.must(err)
}

const mayHaveHad = "an ACL, if there was one,"

// TestNewBelowDefaultACL: what a restore makes anew gets no more than the default ACL of the
// directory above gives, nor more than was recorded, directories as well as files.
func TestNewBelowDefaultACL(t *testing.T) {
	l := newLab(t)
	l.write("d/file", "content")
	l.write("d/narrow", "content")
	l.must(os.Chmod(l.path("d"), 0o775))
	l.must(os.Chmod(l.path("d/file"), 0o664))
	l.must(os.Chmod(l.path("d/narrow"), 0o604))
	with := l.capture()
	l.must(os.RemoveAll(l.path("d")))
	l.acl(t, "", "system.posix_acl_default", posixACL(7, 7, 1, 5, 0))
	l.wantNotes(l.carryOut(l.plan(l.capture(), with)), "d: "+mayHaveHad, "d/file: "+mayHaveHad, "d/narrow: "+mayHaveHad)
	for name, want := range map[string][2]string{
		"d":        {" 750 names", posixACL(7, 7, 1, 5, 0)},
		"d/file":   {" 640 names", posixACL(6, 7, 1, 4, 0)},
		"d/narrow": {" 600 names", posixACL(6, 7, 1, 0, 0)},
	} {
		is := l.attributes(name)[name]
		if !strings.Contains(is, want[0]) || !strings.Contains(is, fmt.Sprintf("acl_access=%x", want[1])) {
			t.Errorf("%s is %s, want%s and %x", name, is, want[0], want[1])
		}
	}
}

// TestNewBelowACL: of what an agent removed, the group's bits that a snapshot has may be the
// mask of an ACL. The group does not get them where the directory above has an ACL.
func TestNewBelowACL(t *testing.T) {
	l := newLab(t)
	l.write("plain/file", "content")
	l.must(os.Chmod(l.path("plain/file"), 0o660))
	l.write("d/e/file", "content")
	l.write("d/e/open", "content")
	l.must(os.Chmod(l.path("d/e"), 0o771))
	l.must(os.Chmod(l.path("d/e/open"), 0o664))
	l.acl(t, "d", "system.posix_acl_access", posixACL(7, 7, 0, 7, 0))
	l.acl(t, "d/e/file", "system.posix_acl_access", posixACL(6, 6, 0, 6, 0))
	with := l.capture()
	l.must(os.RemoveAll(l.path("d/e")))
	l.remove("plain/file")
	l.wantNotes(l.carryOut(l.plan(l.capture(), with)),
		"d/e: "+mayHaveHad, "d/e: rights of the group", "d/e/file: "+mayHaveHad, "d/e/file: rights of the group",
		"d/e/open: "+mayHaveHad, "d/e/open: rights of the group")
	for name, want := range map[string]string{"plain/file": " 660 names", "d/e": " 711 names", "d/e/file": " 600 names", "d/e/open": " 644 names"} {
		if is := l.attributes(name)[name]; !strings.Contains(is, want) || strings.Contains(is, "acl") {
			t.Errorf("%s is %s, want%s and no ACL", name, is, want)
		}
	}
}

// TestDirectoryIsClosedUntilDressed: nobody gets into a directory before it has its group
// and its ACL again, which may deny them that.
func TestDirectoryIsClosedUntilDressed(t *testing.T) {
	l := newLab(t)
	before := l.capture()
	l.write("d/file", "content")
	l.must(os.Chmod(l.path("d"), 0o705))
	forward := l.plan(l.capture(), before)
	l.carryOut(forward)
	o := l.begin(l.inverse(forward), PrepareOptions{})
	o.at("dress d", func() {
		if is := l.attributes("d")["d"]; !strings.Contains(is, " 700 names") {
			t.Errorf("it is %s while it has no group yet", is)
		}
	})
	o.apply()
	if is := l.attributes("d")["d"]; !strings.Contains(is, " 705 names") {
		t.Errorf("in the end it is %s", is)
	}
	o.end()
}

// TestNothingKnownOfUnreadable: what could not be opened may have had an ACL.
func TestNothingKnownOfUnreadable(t *testing.T) {
	l := newLab(t)
	l.write("closed", "")
	st, err := l.ws.Lstat("closed")
	l.must(err)
	kept, err := withoutContent(st, fs.ErrPermission)
	l.must(err)
	if !slices.Equal(kept.Unread, []string{""}) {
		t.Errorf("unread %q, want all", kept.Unread)
	}
}

func TestLinksComeTogether(t *testing.T) {
	l := newLab(t)
	l.write("a", "old")
	l.write("b", "old")
	before := l.capture()
	l.write("a", "new")
	l.remove("b")
	l.must(os.Link(l.path("a"), l.path("b")))
	l.must(os.Link(l.path("a"), l.path("c")))
	l.must(os.Link(l.path("a"), filepath.Join(l.base, "outside")))

	forward := l.plan(l.capture(), before, func(r *Request) { r.Paths = []string{"a", "c"} })
	l.carryOut(forward)
	l.want(map[string]string{"a": "file old", "b": "file new"})
	l.wantNotes(l.carryOut(l.inverse(forward)))
	var a, b, c unix.Stat_t
	l.must(unix.Lstat(l.path("a"), &a))
	l.must(unix.Lstat(l.path("b"), &b))
	l.must(unix.Lstat(l.path("c"), &c))
	if a.Ino != b.Ino || c.Ino != b.Ino || b.Nlink != 4 {
		t.Errorf("a is %d, b is %d, c is %d of %d names", a.Ino, b.Ino, c.Ino, b.Nlink)
	}

	forward = l.plan(l.capture(), before)
	l.carryOut(forward)
	l.wantNotes(l.carryOut(l.inverse(forward)), "a: hard links", "b: hard links", "c: hard links")
	l.must(unix.Lstat(l.path("a"), &a))
	if l.must(unix.Lstat(l.path("b"), &b)); a.Ino != b.Ino || a.Nlink != 3 {
		t.Errorf("a is %d, b is %d of %d names", a.Ino, b.Ino, a.Nlink)
	}
}

// TestLinkOnlyToTheSameFile: a name is given back only to the file that was compared, and
// not to one that somebody saved under the name that stayed, or wrote to.
func TestLinkOnlyToTheSameFile(t *testing.T) {
	for how, save := range map[string]func(l *lab){
		"by rename": func(l *lab) {
			l.write("new", "saved")
			l.must(os.Rename(l.path("new"), l.path("b")))
		},
		"in place": func(l *lab) { l.write("b", "saved") },
	} {
		t.Run(how, func(t *testing.T) {
			l := newLab(t)
			l.write("b", "old")
			before := l.capture()
			l.must(os.Link(l.path("b"), l.path("a")))
			forward := l.plan(l.capture(), before)
			l.carryOut(forward)
			o := l.begin(l.inverse(forward), PrepareOptions{})
			o.at("stage a", func() { save(l) })
			outcome := o.apply()
			l.want(map[string]string{"a": "file old", "b": "file saved"})
			if len(outcome.Notes) != 1 || outcome.Notes[0].What != "hard links" {
				t.Errorf("notes are %v", outcome.Notes)
			}
			o.end()
		})
	}
}

// TestLinksHoldOneContent: names that are to hold different bytes are different files,
// whatever they were.
func TestLinksHoldOneContent(t *testing.T) {
	l := newLab(t)
	before := l.capture()
	l.write("a", "one")
	l.must(os.Link(l.path("a"), l.path("b")))
	l.must(os.Link(l.path("a"), l.path("c")))
	forward := l.plan(l.capture(), before)
	l.carryOut(forward)
	back := l.inverse(forward)
	back.Changes[0].To.Blob = l.blob("other")
	l.wantNotes(l.carryOut(back), "a: hard links", "b: hard links", "c: hard links")
	l.want(map[string]string{"a": "file other", "b": "file one", "c": "file one"})
	var b, c unix.Stat_t
	l.must(unix.Lstat(l.path("b"), &b))
	if l.must(unix.Lstat(l.path("c"), &c)); b.Ino != c.Ino {
		t.Error("b and c hold the same and are two files")
	}
}
