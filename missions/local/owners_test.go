package local

import (
	"context"
	"fmt"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestSinceFindsWhereHistoriesPart compares histories of unequal lengths: what
// is since a moment of another mission is what came after the fork.
func TestSinceFindsWhereHistoriesPart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "0\n")
	source := b.mission("source")
	var moments []missions.Entry
	for n := range 6 {
		b.write("a.txt", fmt.Sprintln(n))
		moments = append(moments, b.snapshot(fmt.Sprint(n)))
	}
	result, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: moments[2].ID})
	if err != nil {
		t.Fatal(err)
	}
	m, err := b.local.MissionByID(source.ID)
	if err != nil {
		t.Fatal(err)
	}
	f, err := b.local.MissionByID(result.Missions[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		m      *projects.Mission
		target string
		want   int
		oldest string
	}{
		{m, moments[5].ID, 1, moments[5].ID},
		{m, moments[1].ID, 5, moments[1].ID},
		{m, f.Tip.ID.String(), 4, moments[2].ID},
		{f, moments[5].ID, 1, moments[2].ID},
		{f, moments[0].ID, 3, moments[0].ID},
	} {
		id, err := gitstore.ParseID(tt.target)
		if err != nil {
			t.Fatal(err)
		}
		target, err := m.Project.Store.Snapshot(id)
		if err != nil {
			t.Fatal(err)
		}
		steps, err := b.local.SnapshotsSince(context.Background(), tt.m, target)
		if err != nil || len(steps) != tt.want || steps[0].ID.String() != tt.oldest || steps[len(steps)-1].ID != tt.m.Tip.ID {
			t.Errorf("%s since %s: %d steps, want %d from %s: %v", tt.m.Name, tt.target, len(steps), tt.want, tt.oldest, err)
		}
	}
}
