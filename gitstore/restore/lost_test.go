package restore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// TestLostFromTheJournal: an operation that was killed, and of which directories or
// files in the journal are gone, ends with all that is new or all that was: what it
// had taken away is in the store.
func TestLostFromTheJournal(t *testing.T) {
	after := afterEverything(t)
	all := func(string, int) bool { return true }
	for name, lost := range map[string]func(dir string, n int) bool{
		"staged":         func(dir string, _ int) bool { return dir == "staged" },
		"displaced":      func(dir string, _ int) bool { return dir == "displaced" },
		"both":           all,
		"half of staged": func(dir string, n int) bool { return dir == "staged" && n%2 == 0 },
	} {
		t.Run(name, func(t *testing.T) {
			const stride = 5
			for at := 1 + rand.IntN(stride); !t.Failed(); at += stride {
				l := newFastLab(t)
				p := l.everything()
				before := l.exact()
				o := l.begin(p, PrepareOptions{})
				killed := l.spawn(o.work.Entry.ID(), "apply", at)
				if !killed {
					break
				}
				lose(t, o.work.Entry, lost)
				if rand.IntN(2) == 0 { // and it is killed again
					l.spawn(o.work.Entry.ID(), "recover", 1+rand.IntN(20))
				}
				l.recovered(fmt.Sprintf("killed at step %d", at), o.work.Entry.ID(), before, after)
			}
		})
	}
}

// lose removes what is lost from the entry's directories, and a directory of which
// nothing is left.
func lose(t *testing.T, entry *journal.Operation, lost func(dir string, n int) bool) {
	t.Helper()
	for _, dir := range []string{entry.StagedDir(), entry.DisplacedDir()} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for n, e := range entries {
			if lost(filepath.Base(dir), n) {
				if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
					t.Fatal(err)
				}
			}
		}
		if lost(filepath.Base(dir), 1) {
			if err := os.Remove(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestHomeGoesMeanwhile: an operation whose entry is gone says so, and changes
// nothing.
func TestHomeGoesMeanwhile(t *testing.T) {
	l := newFastLab(t)
	_, o := l.two(func() { l.write("a", "1") }, func() { l.write("a", "2") })
	before := l.disk()
	l.must(os.RemoveAll(o.work.Entry.Path()))
	if _, err := o.work.Apply(context.Background()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it ended with %v", err)
	}
	l.want(before)
}

// TestNoDirectoryInTheJournal: where something else is in the place of an entry's
// directory, the entry is damaged, and nothing is changed.
func TestNoDirectoryInTheJournal(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a file": func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) },
		"a link": func(path string) error { return os.Symlink(os.TempDir(), path) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newFastLab(t)
			_, o := l.two(func() { l.write("a", "1") }, func() { l.write("a", "2") })
			before := l.disk()
			l.must(os.Remove(o.work.Entry.DisplacedDir()))
			l.must(put(o.work.Entry.DisplacedDir()))
			_, _, err := o.work.Recover(context.Background(), func(context.Context) (bool, error) { return true, nil })
			if _, damaged := errors.AsType[*journal.DamagedError](err); !damaged {
				t.Errorf("it ended with %v", err)
			}
			l.want(before)
		})
	}
}
