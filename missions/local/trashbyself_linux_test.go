package local

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTrashBySelfLeavesMounts: a removed mission in whose files something is mounted stays
// whole, and nothing of what is mounted there goes.
func TestTrashBySelfLeavesMounts(t *testing.T) {
	t.Parallel()
	b, clock, _, kept := emptying(t)
	precious := b.place(filepath.Join(b.user, "precious", "of.txt"))
	b.quiet()
	b.daily(clock, 29)
	at := filepath.Join(filepath.Dir(kept), "mounted")
	b.place(filepath.Join(at, "below.txt"))
	if err := unix.Mount(filepath.Dir(precious), at, "", unix.MS_BIND, ""); errors.Is(err, unix.EPERM) {
		t.Skip("the right to mount is missing")
	} else if err != nil {
		t.Fatal(err)
	}
	b.daily(clock, 40)
	if err := unix.Unmount(at, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	b.stands(precious, true)
	b.stands(kept, true)
	b.daily(clock, 31)
	b.stands(kept, false)
	b.stands(precious, true)
}
