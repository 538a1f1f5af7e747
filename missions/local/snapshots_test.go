package local

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// TestSnapshotsFromMemory walks as the store does, the first time and from
// memory, up to the boundary that pruning leaves too.
func TestSnapshotsFromMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.mission("work")
	for i := range 5 {
		b.write("a.txt", fmt.Sprint(i))
		b.snapshot(fmt.Sprint("edit ", i))
	}
	at, err := b.local.FindMission(t.Context(), b.caller(), m.ID, addresses.InAnyProject)
	if err != nil {
		t.Fatal(err)
	}
	store := at.Project.Store
	check := func(want int) {
		t.Helper()
		var got, direct []string
		for s, err := range at.Project.SnapshotCache.WalkHistory(store, at.Tip.ID) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(s.ID, s.Parents, s.Message))
		}
		for s, err := range store.Snapshots(at.Tip.ID, shadow.HistoryOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			direct = append(direct, fmt.Sprint(s.ID, s.Parents, s.Message))
		}
		if len(got) != want || fmt.Sprint(got) != fmt.Sprint(direct) {
			t.Errorf("%d snapshots: %v, in the store %v", len(got), got, direct)
		}
	}
	check(6)
	check(6)
	second := at.Tip.Parent()
	if err := os.WriteFile(filepath.Join(store.Dir(), "shallow"), []byte(second.String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(2)
	if err := os.Remove(filepath.Join(store.Dir(), "shallow")); err != nil {
		t.Fatal(err)
	}
	check(6)
	for n := range projects.MaxCachedSnapshots {
		at.Project.SnapshotCache.ByID[gitstore.ID{byte(n), byte(n >> 8), 1}] = at.Tip
	}
	delete(at.Project.SnapshotCache.ByID, at.Tip.ID)
	check(6)
	if n := len(at.Project.SnapshotCache.ByID); n > projects.MaxCachedSnapshots {
		t.Errorf("%d are remembered", n)
	}
}

// TestLinesOfManyFiles: a log does not read a whole workspace to say how many lines
// it came with; the files are counted all the same.
func TestLinesOfManyFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range snapshots.MaxLineCountedFiles + 1 {
		b.write(fmt.Sprintf("dir/%d", i), "one\n")
	}
	b.mission("work")
	b.write("dir/1", "one\ntwo\n")
	b.snapshot("edit")
	list, err := b.local.Log(t.Context(), missions.LogRequest{Caller: b.caller(), Lines: true})
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	if e := list[0]; e.Lines == nil || e.Lines.Added != 1 || e.Files.Modified != 1 {
		t.Errorf("an edit: %+v of %+v", e.Lines, e.Files)
	}
	if e := list[1]; e.Lines != nil || e.Files.Added != snapshots.MaxLineCountedFiles+1 {
		t.Errorf("the first: %+v of %+v", e.Lines, e.Files)
	}
}
