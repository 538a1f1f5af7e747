package local

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestPrunedWorkHasItsMaker: whose work it was that went with old snapshots is noted when
// they go. Blame, a restore and a landing know it afterwards, also where it was pruned
// twice; what the user did between those turns stays the user's.
func TestPrunedWorkHasItsMaker(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	b.write("mine.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("one", "a.txt", "zero\none\n")
	c.takeTurn("two", "a.txt", "zero\none\ntwo\n")
	b.write("mine.txt", "zero\nby hand\n")
	c.takeTurn("three", "both.txt", "three\n")
	b.write("both.txt", "three\nby hand\n")
	c.takeTurn("four", "b.txt", "four\n")
	b.pruned(3)
	c.takeTurn("five", "a.txt", "zero\none\ntwo\nfive\n")
	c.takeTurn("six", "c.txt", "six\n")
	c.wantBlame("one turn was pruned", missions.BlameRequest{Path: "a.txt"}, "zero=before", "one=1", "two=2", "five=5")
	b.pruned(1)

	c.wantBlame("its own", missions.BlameRequest{Path: "a.txt"}, "zero=before", "one=5", "two=5", "five=5")
	c.wantBlame("the user's", missions.BlameRequest{Path: "mine.txt"}, "zero=before", "by hand=pruned")
	c.wantBlame("of both", missions.BlameRequest{Path: "both.txt"}, "three=pruned", "by hand=pruned")
	c.wantBlame("what was not pruned", missions.BlameRequest{Path: "c.txt"}, "six=6")
	told, err := b.local.Blame(ctx, missions.BlameRequest{Caller: b.caller(), Path: "a.txt"})
	if err != nil {
		t.Fatal(err)
	}
	if l := told.Lines[1]; l.FirstTurn != 1 || l.Turn != 5 || l.Message != "in turns 1 to 5, which were pruned" || l.Prompt != "" {
		t.Errorf("%+v", l)
	}

	_, err = b.local.Restore(ctx, missions.RestoreRequest{Caller: b.caller(), Moment: "@start", FilesOnly: true})
	b.fails("a restore over what was pruned", err, missions.KindConflict)
	for path, asked := range map[string]bool{"a.txt": false, "b.txt": false, "c.txt": false, "mine.txt": true, "both.txt": true} {
		if err != nil && strings.Contains(err.Error(), path+" (changed outside this mission's turns)") != asked {
			t.Errorf("%s is asked about, want %v: %v", path, asked, err)
		}
	}

	plan, err := b.local.PlanLanding(ctx, missions.LandingRequest{Caller: b.caller()})
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, step := range plan.Steps {
		for _, change := range step.Changes {
			listed = append(listed, step.Title+": "+change.Path)
		}
	}
	if want := []string{"in turns 1 to 5, which were pruned: a.txt", "in turns 1 to 5, which were pruned: b.txt", "six: c.txt"}; !slices.Equal(listed, want) {
		t.Errorf("to be landed: %q", listed)
	}
	if plan, err = b.local.PlanLanding(ctx, missions.LandingRequest{Caller: b.caller(), All: true}); err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, step := range plan.Steps {
		for _, change := range step.Changes {
			all[change.Path] = true
		}
	}
	if !all["mine.txt"] || !all["both.txt"] || !all["a.txt"] {
		t.Errorf("all to be landed: %v", all)
	}
	b.healthy()
}
