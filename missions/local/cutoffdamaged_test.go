package local

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// entryOf is the one entry of the journal's.
func (b *testBench) entryOf() string {
	b.Helper()
	entries, _, err := b.local.Journal.List()
	if err != nil || len(entries) != 1 {
		b.Fatalf("%d entries, %v", len(entries), err)
	}
	return entries[0].Path()
}

// TestDamagedRestoreIsSetAside: of a restore that was cut off and can be neither
// finished nor taken back, doctor says which workspace may be half of it, and what
// gives back what that held before; and it holds up nobody any more.
func TestDamagedRestoreIsSetAside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(entry string) error
		named  bool
	}{
		"phases": {func(entry string) error { return os.WriteFile(filepath.Join(entry, "phases"), []byte("x"), 0o600) }, true},
		"operation.json": {func(entry string) error {
			return os.WriteFile(filepath.Join(entry, "operation.json"), []byte("x"), 0o600)
		}, false},
		"a file for a directory": {func(entry string) error {
			if err := os.RemoveAll(filepath.Join(entry, "staged")); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(entry, "staged"), nil, 0o600)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "one\n")
			b.mission("work")
			b.write("a.txt", "two\n")
			b.snapshot("second")
			b.cutOff("work", "work@start", applied)
			if err := c.damage(b.entryOf()); err != nil {
				t.Fatal(err)
			}
			d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller(), Fix: true})
			if err != nil || len(d.Fixed) != 1 || len(d.Problems) != 0 {
				t.Fatalf("doctor: %+v %v", d, err)
			}
			said := d.Fixed[0].Message
			way := regexp.MustCompile(`umbra restore ([0-9a-f]{12}) --mission (\S+) --all`).FindStringSubmatch(said)
			if (way != nil) != c.named || c.named && !strings.Contains(said, b.dir) || !strings.Contains(said, "half") {
				t.Fatalf("doctor says %q", said)
			}
			b.healthy()
			if !c.named {
				return
			}
			if _, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: way[1], Mission: way[2], All: true}); err != nil {
				t.Fatal(err)
			}
			if a := b.read("a.txt"); a != "two\n" {
				t.Errorf("a.txt %q", a)
			}
			b.healthy()
		})
	}
}

// TestStrangerInQuarantine: a file that is not Umbra's, among what a restore has
// taken away, is in nobody's way, and stays.
func TestStrangerInQuarantine(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("second")
	b.cutOff("work", "work@start", applied)
	stranger := filepath.Join(b.entryOf(), "displaced", ".DS_Store")
	if err := os.WriteFile(stranger, []byte("theirs\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.snapshot("third")
	if a := b.read("a.txt"); a != "one\n" {
		t.Errorf("a.txt %q: the restore was not finished", a)
	}
	for range 2 { // it finds the entry finished
		at, err := b.local.FindMission(context.Background(), b.caller(), "work", addresses.InProject)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.local.WithWorkspaceLock(context.Background(), at, func(m *projects.Mission) error { return b.local.SettleRestores(context.Background(), m) }); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(stranger); err != nil || string(kept) != "theirs\n" {
		t.Errorf("it holds %q, %v", kept, err)
	}
	b.healthy()
}
