package local

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TestErase: a home goes with all that is Umbra's, also what can't be written to,
// and nothing goes while another process is at work in it.
func TestErase(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	h := b.local.Home
	if err := b.local.Close(); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(h.Dir, "trash", "0b0e7d3c-52c6-4c3b-9c3e-0a5f5f0e4a11", "fork", "closed")
	for name, text := range map[string]string{"trash/0b0e7d3c-52c6-4c3b-9c3e-0a5f5f0e4a11/fork/closed/f": "x", ".erased/cut.0/f": "x", "notes.txt": "mine"} {
		path := filepath.Join(h.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o400)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, take := range []func() (*lock.Lock, error){
		func() (*lock.Lock, error) { return lock.Try(h.LockFile(), lock.Exclusive, lock.Self("a daemon")) },
		func() (*lock.Lock, error) {
			return lock.Try(h.Path("locks", "projects"), lock.Shared, lock.Self("umbra snapshot"))
		},
	} {
		held, err := take()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.Erase(); err == nil || missions.AsError(err).Kind != missions.KindBusy {
			t.Errorf("while another process is at work: %v", err)
		}
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(closed, "f")); err != nil {
			t.Errorf("something was removed: %v", err)
		}
	}
	stays, err := h.Erase()
	if err != nil || len(stays) != 1 || stays[0] != filepath.Join(h.Dir, "notes.txt") {
		t.Fatalf("what stays: %q %v", stays, err)
	}
	if left, err := os.ReadDir(h.Dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
	if p, err := os.ReadFile(filepath.Join(b.dir, "a.txt")); err != nil || string(p) != "one\n" {
		t.Errorf("the workspace: %q %v", p, err)
	}
	if err := os.Remove(stays[0]); err != nil {
		t.Fatal(err)
	}
	again, err := home.Open(h.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if stays, err := again.Erase(); err != nil || len(stays) != 0 {
		t.Errorf("a second time: %q %v", stays, err)
	}
	if _, err := os.Stat(h.Dir); !os.IsNotExist(err) {
		t.Errorf("the home: %v", err)
	}
}

// TestEraseLeavesWhatIsElsewhere: what a link leads to stays and is named, and what
// is not Umbra's keeps its modes.
func TestEraseLeavesWhatIsElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.local.Home
	if err := b.local.Close(); err != nil {
		t.Fatal(err)
	}
	elsewhere, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere = filepath.Join(elsewhere, "trash")
	mine := filepath.Join(home.Dir, "mine")
	if err := errors.Join(os.Rename(home.Path("trash"), elsewhere), os.Symlink(elsewhere, home.Path("trash")), os.Mkdir(mine, 0o500)); err != nil {
		t.Fatal(err)
	}
	stays, err := home.Erase()
	if err != nil || !slices.Equal(stays, []string{mine, elsewhere}) {
		t.Errorf("what stays: %q %v", stays, err)
	}
	if info, err := os.Stat(mine); err != nil || info.Mode().Perm() != 0o500 {
		t.Errorf("the user's directory: %v %v", info, err)
	}
	if _, err := os.Stat(elsewhere); err != nil {
		t.Error(err)
	}
}

// TestEraseLocksAHomeOfAnyName: the locks are found where a pattern would find none.
func TestEraseLocksAHomeOfAnyName(t *testing.T) {
	t.Parallel()
	home, err := home.Open(filepath.Join(t.TempDir(), "my[umbra]"))
	if err != nil {
		t.Fatal(err)
	}
	held, err := lock.Try(home.Path("locks", "projects"), lock.Shared, lock.Self("umbra snapshot"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := home.Erase(); err == nil || kindOf(err) != missions.KindBusy {
		t.Errorf("while another process is at work: %v", err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	if stays, err := home.Erase(); err != nil || len(stays) != 0 {
		t.Errorf("then: %q %v", stays, err)
	}
}
