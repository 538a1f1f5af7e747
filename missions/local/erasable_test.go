package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// TestEraseKeepsWhatACutOffRestoreTookAway: where the user's files are nowhere but
// in the journal, the home stays, whole.
func TestEraseKeepsWhatACutOffRestoreTookAway(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("second")
	if err := b.local.Home.CheckErasable(); err != nil {
		t.Fatalf("before: %v", err)
	}
	b.cutOff("work", "work@start", applied)
	b.keptFromErase("a restore is not finished")
	later := b.again()
	if err := later.local.Recover(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := later.local.Home.CheckErasable(); err != nil {
		t.Errorf("when it is finished: %v", err)
	}
	later.healthy()
}

// TestEraseRefusesADamagedJournal: an entry that can't be read may hold such files.
func TestEraseRefusesADamagedJournal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(filepath.Join(b.home, "journal", "diary.txt"), "mine")
	b.keptFromErase("diary.txt")
}

// TestEraseKeepsWhatDoctorSetAside: what a damaged operation took away is the user's
// still when doctor has moved it out of the way.
func TestEraseKeepsWhatDoctorSetAside(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("second")
	b.cutOff("work", "work@start", applied)
	operations, _, err := b.local.Journal.List()
	if err != nil || len(operations) != 1 {
		t.Fatalf("%v %v", operations, err)
	}
	operation := filepath.Dir(operations[0].DisplacedDir())
	b.put(filepath.Join(operations[0].DisplacedDir(), "mine"), "nowhere else")
	b.put(filepath.Join(operation, "operation.json"), "junk")
	later := b.again()
	if _, err := later.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: true}); err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join("journal", "damaged", filepath.Base(operation)+"-1")
	later.keptFromErase(aside)
	kept := filepath.Join(b.home, aside, filepath.Base(operations[0].DisplacedDir()), "mine")
	if p, err := os.ReadFile(kept); err != nil || string(p) != "nowhere else" {
		t.Errorf("%q %v", p, err)
	}
	if err := os.RemoveAll(filepath.Join(b.home, aside)); err != nil {
		t.Fatal(err)
	}
	if err := later.local.Home.CheckErasable(); err != nil {
		t.Errorf("when it was moved elsewhere: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(b.home, "journal", "damaged")); err != nil {
		t.Fatal(err)
	}
	b.put(filepath.Join(b.home, "journal", "damaged"), "no directory")
	later.keptFromErase("can't be told")
}

// TestEraseRefusesTheUsersFiles: a directory that has the name of one of Umbra's,
// and not its entries, is somebody else's.
func TestEraseRefusesTheUsersFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"projects/site/main.go", "trash/old.txt", "agents/launch/run.sh", "index/cards.txt"} {
		b := newBench(t)
		b.put(filepath.Join(b.home, name), "mine")
		b.keptFromErase(strings.Join(strings.Split(name, "/")[:2], "/"))
		if p, err := os.ReadFile(filepath.Join(b.home, name)); err != nil || string(p) != "mine" {
			t.Errorf("%s: %q %v", name, p, err)
		}
	}
	for _, name := range []string{"run-all", "lockers", "socket-set", "lock-pick"} {
		if home.IsHomeEntry(name) {
			t.Errorf("%s is taken for Umbra's", name)
		}
	}
}

// keptFromErase holds Erase to refuse, with a word on why, and to change nothing.
func (b *testBench) keptFromErase(why string) {
	b.Helper()
	h := b.local.Home
	if err := b.local.Close(); err != nil {
		b.Fatal(err)
	}
	if err := h.CheckErasable(); err == nil || kindOf(err) != missions.KindConflict {
		b.Errorf("erasable: %v", err)
	}
	if _, err := h.Erase(); err == nil || kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), why) {
		b.Errorf("erase: %v", err)
	}
	for _, name := range home.HomeDirs {
		if _, err := os.Stat(h.Path(name)); err != nil {
			b.Error(err)
		}
	}
	if _, err := os.Stat(h.Path(home.ErasedDir)); !os.IsNotExist(err) {
		b.Errorf("something was taken away: %v", err)
	}
}

// TestHomeOfOthers: a directory that is used for other things becomes no home, and
// one that was begun, or set up by hand, does.
func TestHomeOfOthers(t *testing.T) {
	t.Parallel()
	for name, well := range map[string]bool{"projects/site/f": true, "config.yml": true, "lost+found/f": true, "notes.txt": false, ".bashrc": false} {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := home.Open(dir)
		if well && err != nil || !well && (err == nil || kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), "it holds "+name)) {
			t.Errorf("%s: %v", name, err)
		}
		if _, made := os.Lstat(filepath.Join(dir, "statcache")); (made == nil) != well {
			t.Errorf("%s: the home is made: %v", name, made)
		}
	}
}
