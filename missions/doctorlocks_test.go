package missions

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// TestNoLockFile: what stands in the place of a lock file is said to do so, and not
// that the workspace has moved; doctor finds it and sets it aside, with all in it.
func TestNoLockFile(t *testing.T) {
	t.Parallel()
	for what, put := range map[string]func(string) error{
		"directory": func(path string) error { return os.MkdirAll(filepath.Join(path, "in it"), 0o700) },
		"link":      func(path string) error { return os.Symlink(os.DevNull, path) },
		"loop":      func(path string) error { return os.Symlink(path, path) },
		"FIFO":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(what, func(t *testing.T) {
			b := newBench(t)
			b.write("a", "one")
			m := b.mission("work")
			at, err := b.local.missionByID(m.ID)
			if err != nil {
				t.Fatal(err)
			}
			home, place := b.local.home, at.bind.Place
			paths := []string{
				lock.WorkspaceFile(home.Dir, place.Device, place.Inode), lock.ProjectFile(home.Dir, at.project.ID),
				b.local.namesFile(at.project), home.LockFile(),
			}
			for i, path := range paths {
				if err := errorsOf(os.RemoveAll(path), put(path)); err != nil {
					t.Fatal(err)
				}
				if i < 2 { // a snapshot takes both
					_, err = b.local.Snapshot(t.Context(), SnapshotRequest{Caller: b.caller(), Mission: m.ID})
					e := AsError(err)
					if err == nil || e.Kind != KindDamaged || !strings.Contains(e.Message, path) || !strings.Contains(e.Hint, "umbra doctor --fix") {
						t.Errorf("%s: %v", path, err)
					}
					if err := os.Rename(path, path+"-kept"); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, path := range paths[:2] {
				if err := os.Rename(path+"-kept", path); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := home.Hold("umbra daemon run"); err == nil || !strings.Contains(AsError(err).Hint, "umbra doctor --fix --no-daemon") {
				t.Errorf("the home lock: %v", err)
			}
			r, err := b.local.Doctor(t.Context(), DoctorRequest{})
			if err != nil || len(r.Problems) != len(paths) {
				t.Fatalf("%+v, %v", r.Problems, err)
			}
			for _, p := range r.Problems {
				if p.Invariant != "I6" || p.Fix != "umbra doctor --fix" || !strings.Contains(p.Message, "not a regular file") {
					t.Errorf("%+v", p)
				}
			}
			if r, err := b.local.Doctor(t.Context(), DoctorRequest{Fix: true}); err != nil || len(r.Problems) > 0 || len(r.Fixed) != len(paths) {
				t.Errorf("%+v, %v", r, err)
			}
			for _, path := range paths {
				if _, err := os.Lstat(path + asideSuffix + "1"); err != nil {
					t.Errorf("it was not set aside: %v", err)
				}
			}
			b.write("a", "two")
			b.snapshot("again")
			b.healthy()
			release, err := home.lockAll() // as umbra uninstall does
			if err != nil {
				t.Fatal(err)
			}
			release()
		})
	}
}
