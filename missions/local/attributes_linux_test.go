package local

import (
	"context"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestUndoGivesBackMoreThanBytes: the record of a restore says what else the files had
// that it removed.
func TestUndoGivesBackMoreThanBytes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "tool", "#!/bin/sh\n")
	tool, other := b.dir+"/tool", b.dir+"/other"
	must(os.Chmod(tool, os.ModeSetuid|0o750))
	must(unix.Setxattr(tool, "user.colour", []byte("blue"), 0))
	must(os.Link(tool, other))
	describe := func() string {
		var st unix.Stat_t
		must(unix.Lstat(other, &st))
		value := make([]byte, 8)
		n, err := unix.Getxattr(tool, "user.colour", value)
		must(err)
		return fmt.Sprintf("%o %d names %d %s", st.Mode, st.Nlink, st.Mtim.Nano(), value[:n])
	}
	want := describe()

	b.restore("@1", func(r *missions.RestoreRequest) { r.All = true })
	if _, err := os.Lstat(tool); err == nil {
		t.Fatal("nothing was removed")
	}
	undone, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()})
	must(err)
	if got := describe(); got != want || len(undone.Notes) > 0 {
		t.Errorf("after the undo %s, want %s; notes %q", got, want, undone.Notes)
	}
	b.healthy()
}
