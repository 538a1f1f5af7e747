package missions

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// TestErase: a home goes with all that is Umbra's, also what can't be written to,
// and nothing goes while another process is at work in it.
func TestErase(t *testing.T) {
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	home := b.local.home
	if err := b.local.Close(); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(home.Dir, "trash", "0b0e7d3c-52c6-4c3b-9c3e-0a5f5f0e4a11", "fork", "closed")
	for name, text := range map[string]string{"trash/0b0e7d3c-52c6-4c3b-9c3e-0a5f5f0e4a11/fork/closed/f": "x", ".erased/cut.0/f": "x", "notes.txt": "mine"} {
		path := filepath.Join(home.Dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o400)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(closed, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, take := range []func() (*lock.Lock, error){
		func() (*lock.Lock, error) { return lock.Try(home.LockFile(), lock.Exclusive, lock.Self("a daemon")) },
		func() (*lock.Lock, error) {
			return lock.Try(home.path("locks", "projects"), lock.Shared, lock.Self("umbra snapshot"))
		},
	} {
		held, err := take()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := home.Erase(); err == nil || AsError(err).Kind != KindBusy {
			t.Errorf("while another process is at work: %v", err)
		}
		if err := held.Release(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(closed, "f")); err != nil {
			t.Errorf("something was removed: %v", err)
		}
	}
	stays, err := home.Erase()
	if err != nil || len(stays) != 1 || stays[0] != filepath.Join(home.Dir, "notes.txt") {
		t.Fatalf("what stays: %q %v", stays, err)
	}
	if left, err := os.ReadDir(home.Dir); err != nil || len(left) != 1 {
		t.Errorf("left: %v %v", left, err)
	}
	if p, err := os.ReadFile(filepath.Join(b.dir, "a.txt")); err != nil || string(p) != "one\n" {
		t.Errorf("the workspace: %q %v", p, err)
	}
	if err := os.Remove(stays[0]); err != nil {
		t.Fatal(err)
	}
	again, err := OpenHome(home.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if stays, err := again.Erase(); err != nil || len(stays) != 0 {
		t.Errorf("a second time: %q %v", stays, err)
	}
	if _, err := os.Stat(home.Dir); !os.IsNotExist(err) {
		t.Errorf("the home: %v", err)
	}
}
