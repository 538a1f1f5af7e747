package local

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestStagedStays takes snapshots of a change beside a staged state that does not
// change, in one process, and of a staged state that does.
func TestStagedStays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	b.write("a.txt", "one\n")
	b.git("add", "a.txt")
	b.mission("m")
	b.write("b.txt", "beside it\n")
	first := b.snapshot("a change")
	b.write("b.txt", "again\n")
	second := b.snapshot("another")
	b.write("a.txt", "two\n")
	b.git("add", "a.txt")
	third := b.snapshot("staged anew")
	staged := func(e missions.Entry) string {
		t.Helper()
		at, err := b.local.FindMoment(t.Context(), b.caller(), e.ID, addresses.InAnyProject)
		if err != nil {
			t.Fatal(err)
		}
		p, err := at.Project.Store.RecordFile(at.Snapshot.Record, projects.StagedDoc)
		if err != nil {
			t.Fatal(err)
		}
		return string(p)
	}
	if staged(first) != staged(second) || staged(second) == staged(third) {
		t.Errorf("staged states are\n%s\n%s\n%s", staged(first), staged(second), staged(third))
	}
}
