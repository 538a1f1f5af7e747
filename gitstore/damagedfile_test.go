package gitstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
)

// TestRepairKeepsEveryDamagedFile: what a later repair finds damaged is kept beside
// what an earlier one has kept.
func TestRepairKeepsEveryDamagedFile(t *testing.T) {
	s := newStore(t)
	config := filepath.Join(s.dir, "config")
	for _, damage := range []string{"first", "second", "third"} {
		if err := os.WriteFile(config, []byte(damage), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := RepairConfig(s.dir, testProject); err != nil {
			t.Fatal(err)
		}
		if err := CheckConfig(s.dir, testProject); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{".damaged": "first", ".damaged.2": "second", ".damaged.3": "third"} {
		if got, err := os.ReadFile(config + name); err != nil || string(got) != want {
			t.Errorf("config%s holds %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestDamagedFileWithoutLinks: where a file can't have two names, what it holds is
// copied, so that a process which is killed then leaves it where it is.
func TestDamagedFileWithoutLinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "packed-refs")
	if err := os.WriteFile(path, []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	var s syncer
	if err := s.keepDamaged(path, func(string, string) error { return syscall.EPERM }); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, path + ".damaged"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != "damaged" {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

// TestRepairLeavesNoGap: whoever opens the repository meanwhile finds a
// configuration, the damaged or the repaired one, and never none.
func TestRepairLeavesNoGap(t *testing.T) {
	s := newStore(t)
	head := filepath.Join(s.dir, "HEAD")
	var over atomic.Bool
	missing := make(chan bool)
	go func() {
		gap := false
		for !over.Load() {
			_, err := os.Lstat(head)
			gap = gap || errors.Is(err, fs.ErrNotExist)
		}
		missing <- gap
	}()
	for range 200 {
		if err := os.WriteFile(head, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := RepairConfig(s.dir, testProject); err != nil {
			t.Fatal(err)
		}
	}
	over.Store(true)
	if <-missing {
		t.Error("for an instant there was no HEAD")
	}
}
