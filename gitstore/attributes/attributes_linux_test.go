package attributes

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// someACL gives a user 12345 what the mask allows.
func someACL(owner, user, group, mask, other uint16) acl {
	const nobody = 0xffffffff
	return acl{{tagOwner, owner, nobody}, {0x02, user, 12345}, {tagGroup, group, nobody}, {tagMask, mask, nobody}, {tagOther, other, nobody}}
}

func newFile(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func statOf(t *testing.T, file *os.File) beneath.Stat {
	t.Helper()
	st, err := beneath.StatFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// asNobody runs a function on a thread of another user, which ends with it.
func asNobody(t *testing.T, fn func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOT SHOWN: only root may become another user")
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		for _, call := range []func() (uintptr, uintptr, unix.Errno){
			func() (uintptr, uintptr, unix.Errno) { return unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0) },
			func() (uintptr, uintptr, unix.Errno) {
				return unix.RawSyscall(unix.SYS_SETRESGID, 65534, 65534, 65534)
			},
			func() (uintptr, uintptr, unix.Errno) {
				return unix.RawSyscall(unix.SYS_SETRESUID, 65534, 65534, 65534)
			},
		} {
			if _, _, errno := call(); errno != 0 {
				done <- errno
				return
			}
		}
		fn()
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestOwnerThatMayNotBeGiven(t *testing.T) {
	file := newFile(t)
	kept := &Kept{UID: 1234, GID: 5678, Mode: 0o6754, Xattrs: map[string][]byte{capabilities: []byte("x")}}
	var lost []Lost
	if os.Getuid() == 0 {
		if err := file.Chown(65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	asNobody(t, func() { lost = kept.Give(file) })
	if st := statOf(t, file); st.Perm() != 0o744 || st.UID != 65534 {
		t.Errorf("owner %d, mode %o: the group's rights are another group's, and nobody gets the owner's", st.UID, st.Perm())
	}
	var what []string
	for _, l := range lost {
		what = append(what, l.What)
	}
	if want := []string{"owner", "capabilities", "set-user-ID or set-group-ID bit"}; !reflect.DeepEqual(what, want) {
		t.Errorf("lost %q, want %q", what, want)
	}
}

// TestDenialsStay: where owner, group or ACL can't be given, nobody may do what they were
// denied, though they are among the others now.
func TestDenialsStay(t *testing.T) {
	const nobody, somebody = 65534, 1234
	refused := func(a acl) map[string][]byte { return map[string][]byte{accessACL: append(a, a[3]).bytes()} }
	for name, c := range map[string]struct {
		kept Kept
		want uint32
	}{
		"group denied":                {Kept{UID: nobody, GID: somebody, Mode: 0o604}, 0o600},
		"others denied":               {Kept{UID: nobody, GID: somebody, Mode: 0o640}, 0o600},
		"owner denied":                {Kept{UID: somebody, GID: nobody, Mode: 0o477}, 0o444},
		"owner and group denied":      {Kept{UID: somebody, GID: somebody, Mode: 0o467}, 0o444},
		"user denied by a lost ACL":   {Kept{UID: nobody, GID: nobody, Mode: 0o664, Xattrs: refused(someACL(6, 2, 6, 6, 4))}, 0o620},
		"group denied below the mask": {Kept{UID: nobody, GID: somebody, Mode: 0o666, Xattrs: map[string][]byte{accessACL: someACL(6, 6, 0, 6, 6).bytes()}}, 0o600},
		"ACL that was not kept":       {Kept{UID: nobody, GID: nobody, Mode: 0o664, Unread: []string{accessACL}}, 0o600},
		"attributes never listed":     {Kept{UID: nobody, GID: nobody, Mode: 0o664, Unread: []string{unlisted}}, 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			file := newFile(t)
			if os.Getuid() == 0 {
				if err := file.Chown(nobody, nobody); err != nil {
					t.Fatal(err)
				}
			}
			var lost []Lost
			asNobody(t, func() { lost = c.kept.Give(file) })
			if got := statOf(t, file).Perm(); got != c.want || len(lost) != 1 {
				t.Errorf("mode %o, want %o; lost %v", got, c.want, lost)
			}
		})
	}
}

// TestRecordAndCopy: a record holds a limited size of extended attributes, and names that
// are text; a copy has them all.
func TestRecordAndCopy(t *testing.T) {
	file := newFile(t)
	const odd = "user.\xff"
	for name, value := range map[string]string{odd: "1", "user.plain": "2"} {
		if err := unix.Fsetxattr(int(file.Fd()), name, []byte(value), 0); err != nil {
			t.Fatal(err)
		}
	}
	all, recorded := All(file, statOf(t, file)), Of(file, statOf(t, file))
	if string(all.Xattrs[odd]) != "1" || len(all.Unread) > 0 {
		t.Errorf("a copy has %q and not %q", all.Xattrs, all.Unread)
	}
	if want := []string{"user.?"}; !reflect.DeepEqual(recorded.Unread, want) || string(recorded.Xattrs["user.plain"]) != "2" {
		t.Errorf("a record has %q and not %q", recorded.Xattrs, recorded.Unread)
	}
	large := make([]byte, maxXattrs/2+1)
	all.Xattrs["user.a"], all.Xattrs["user.b"] = large, large
	all.record()
	if want := []string{"user.?", "user.b"}; !reflect.DeepEqual(all.Unread, want) {
		t.Errorf("too large for a record: %q, want %q", all.Unread, want)
	}
}

func TestMaskIsNotTheGroups(t *testing.T) {
	file := newFile(t)
	st := statOf(t, file)
	good := someACL(6, 6, 4, 6, 0)
	kept := &Kept{UID: st.UID, GID: st.GID, Mode: 0o660, Xattrs: map[string][]byte{accessACL: good.bytes()}}
	if lost := kept.Give(file); len(lost) > 0 {
		t.Fatalf("lost %v", lost)
	}
	if back := Of(file, statOf(t, file)); !reflect.DeepEqual(back.Xattrs, kept.Xattrs) || back.Mode != 0o660 {
		t.Errorf("read %o %x, want %x", back.Mode, back.Xattrs, kept.Xattrs)
	}
	// The kernel refuses an ACL of two masks: as a file system without ACLs does any.
	other := newFile(t)
	kept.Xattrs[accessACL] = append(good, good[3]).bytes()
	if lost := kept.Give(other); len(lost) != 1 || lost[0].What != "ACL" {
		t.Errorf("lost %v", lost)
	}
	if st := statOf(t, other); st.Perm() != 0o640 {
		t.Errorf("without its ACL the file has mode %o", st.Perm())
	}
	kept.Unread = []string{accessACL}
	delete(kept.Xattrs, accessACL)
	if lost := kept.Give(file); len(lost) != 1 || statOf(t, file).Perm() != 0o600 {
		t.Errorf("lost %v, mode %o", lost, statOf(t, file).Perm())
	}
}

func TestInherit(t *testing.T) {
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	give := func(perm uint32, exact bool, lost ...error) *Kept {
		file := newFile(t)
		var got []error
		for _, l := range Inherit(dir, file, perm, exact) {
			got = append(got, l.Err)
		}
		if !slices.Equal(got, lost) {
			t.Errorf("lost %v, want %v", got, lost)
		}
		return Of(file, statOf(t, file))
	}
	if k := give(0, true); k.Mode != 0 {
		t.Errorf("mode %o, want none", k.Mode)
	}
	if k := give(0o666, false); k.Mode&0o022 != 0 {
		t.Errorf("mode %o is past the umask", k.Mode)
	}
	if err := unix.Fsetxattr(int(dir.Fd()), defaultACL, someACL(7, 6, 5, 7, 4).bytes(), 0); err != nil {
		t.Fatal(err)
	}
	if k, want := give(0o640, true, ErrNoSnapshot), someACL(6, 6, 5, 4, 0); string(k.Xattrs[accessACL]) != string(want.bytes()) || k.Mode != 0o640 {
		t.Errorf("mode %o and ACL %x, want %x", k.Mode, k.Xattrs[accessACL], want.bytes())
	}
	if err := unix.Fremovexattr(int(dir.Fd()), defaultACL); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fsetxattr(int(dir.Fd()), accessACL, someACL(7, 6, 5, 7, 4).bytes(), 0); err != nil {
		t.Fatal(err)
	}
	if k := give(0o4674, true, ErrNoSnapshot, ErrMaybeMask); k.Mode != 0o4644 {
		t.Errorf("mode %o: the group has what may have been the mask of an ACL", k.Mode)
	}
	if k := give(0o644, true, ErrNoSnapshot); k.Mode != 0o644 {
		t.Errorf("mode %o, want 644", k.Mode)
	}
}

// TestHoles writes the same in pieces of any size: what was to be a hole is one, and of a
// part that has anything else every byte is written.
func TestHoles(t *testing.T) {
	t.Parallel()
	for _, run := range []int{Block, LongRun} {
		content := make([]byte, 6*run+7)
		content[run+run/2], content[4*run-1], content[len(content)-1] = 1, 2, 3
		var rooms []int64
		for _, piece := range []int{1000, run, 2*run + 1, len(content)} {
			file := newFile(t)
			w := NewSparse(file, int64(run))
			for at := 0; at < len(content); at += piece {
				if _, err := w.Write(content[at:min(at+piece, len(content))]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(file.Name()); err != nil || !reflect.DeepEqual(got, content) {
				t.Errorf("runs of %d in pieces of %d: other bytes, or %v", run, piece, err)
			}
			if k := Of(file, statOf(t, file)); !k.Sparse {
				t.Errorf("runs of %d in pieces of %d: there are no holes", run, piece)
			}
			var st unix.Stat_t
			if err := unix.Fstat(int(file.Fd()), &st); err != nil {
				t.Fatal(err)
			}
			rooms = append(rooms, st.Blocks*512)
		}
		if most := int64(3*run + 2*Block); slices.Max(rooms) > most { // less where the disk compresses
			t.Errorf("runs of %d take %d bytes, want at most %d", run, rooms, most)
		}
	}
}

func TestKeptThroughJSON(t *testing.T) {
	kept := &Kept{UID: 1, GID: 2, Mode: 0, Modified: 1e18 + 1, Names: 2, Sparse: true, Xattrs: map[string][]byte{"user.a": {0, 0xff}}, Unread: []string{"user.b"}}
	data, err := json.Marshal(kept)
	var back Kept
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if err != nil || !reflect.DeepEqual(&back, kept) {
		t.Errorf("%s became %+v, %v", data, back, err)
	}
	if err := json.Unmarshal([]byte(`{"mode":"8"}`), &back); err == nil {
		t.Error("8 is taken for a mode")
	}
}
