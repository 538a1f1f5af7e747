package local

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// scatter puts so many loose objects into a project's store. A sixteenth of the directories
// is counted: n must be well above a limit to be over it for sure.
func (b *testBench) scatter(n int) {
	b.Helper()
	dir := b.TempDir()
	var names bytes.Buffer
	for i := range n {
		name := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(name, fmt.Appendf(nil, "object %s\n", name), 0o600); err != nil {
			b.Fatal(err)
		}
		fmt.Fprintln(&names, name)
	}
	cmd := exec.Command("git", "--git-dir="+b.project().Store.Dir(), "hash-object", "-w", "--stdin-paths")
	cmd.Stdin = &names
	if err := cmd.Run(); err != nil {
		b.Fatal(err)
	}
}

// TestHousekeepingApart: a process that ends before it has an idle moment starts another
// one for the housekeeping, at an idle point, where it is needed and none is at it yet.
func TestHousekeepingApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var started []string
	b.local.StartHousekeeper = func(dir string) error {
		started = append(started, dir)
		return errors.New("not here") // which is for the log alone
	}
	b.write("a.txt", "one\n")
	id := b.mission("work").ID
	p := b.project()
	b.write("a.txt", "two\n")
	if b.snapshot("two"); len(started) > 0 {
		t.Fatalf("started for a new store: %v", started)
	}

	b.scatter(4_000)
	b.write("a.txt", "three\n")
	if _, err := b.local.SubmitRequest(t.Context(), p, id, &snapshots.Request{Event: missions.PromptSubmitted{Text: "go", ID: "p"}}); err != nil || len(started) > 0 {
		t.Fatalf("started in a turn: %v, %v", started, err)
	}
	if _, err := b.local.SubmitRequest(t.Context(), p, id, &snapshots.Request{Event: missions.TurnEnded{}}); err != nil || !slices.Equal(started, []string{p.Dir}) {
		t.Fatalf("at the turn's end was started %v, %v, want %s", started, err, p.Dir)
	}

	held, err := lock.Try(b.local.Home.Path("locks", "housekeeping-"+p.ID), lock.Exclusive, b.local.Self)
	if err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "four\n")
	if b.snapshot("four"); len(started) > 1 {
		t.Errorf("started beside one that is at it: %v", started)
	}
	_, err = b.local.HousekeepWhenQuiet(t.Context(), p.Dir, time.Millisecond)
	b.fails("beside one that is at it", err, missions.KindBusy)
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	pruning, err := lock.Try(lock.PruningFile(b.local.Home.Dir, p.ID), lock.Exclusive, b.local.Self)
	if err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "four again\n")
	if b.snapshot("four again"); len(started) > 1 {
		t.Errorf("started beside a prune: %v", started)
	}
	if err := pruning.Release(); err != nil {
		t.Fatal(err)
	}

	done, err := b.local.HousekeepWhenQuiet(t.Context(), p.Dir, time.Millisecond)
	if err != nil || done.Problem != "" || done.Packed < 4_000 {
		t.Errorf("it did %+v, %v", done, err)
	}
	b.write("a.txt", "five\n")
	if b.snapshot("five"); len(started) > 1 {
		t.Errorf("started once all is packed: %v", started)
	}
	if done, err := b.local.HousekeepWhenQuiet(t.Context(), p.Dir, time.Millisecond); err != nil || done.Problem != "" {
		t.Errorf("with a handful of objects: %+v, %v", done, err)
	}
	b.scatter(4_000)
	vain := b.local.Home.Path("locks", "vain-"+p.ID)
	if err := os.WriteFile(vain, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "six\n")
	if b.snapshot("six"); len(started) > 1 {
		t.Errorf("started again although it was of no use just now: %v", started)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(vain, long, long); err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "seven\n")
	if b.snapshot("seven"); len(started) != 2 {
		t.Errorf("not started again after an hour: %v", started)
	}
	b.healthy()
}
