package restores

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

func TestRestoreCounts(t *testing.T) {
	t.Parallel()
	dropped := func(turns ...int) missions.ConversationRestore {
		return missions.ConversationRestore{EventsKept: 3, EventsDropped: 2, TurnsDropped: turns, Switched: true}
	}
	const none = "0 changed, 0 created, 0 deleted; conversation: "
	for want, r := range map[string]missions.RestoreResult{
		"1 changed, 0 created, 0 deleted":                    {Modify: []string{"a"}},
		none + "3 events kept, 2 dropped":                    {Conversation: dropped()},
		none + "what was said after login@1.2 is taken back": {Conversation: dropped(), TargetAddress: "login@1.2"},
		none + "the fork's":                                  {Conversation: missions.ConversationRestore{EventsKept: 3, EventsDropped: 2, FromFork: true}, TargetAddress: "fork@4", Merged: []string{}},
		none + "the fork's; of the parent's since the fork, turns 3 and 4 are taken back": {
			Conversation: missions.ConversationRestore{EventsDropped: 2, FromFork: true, TurnsDropped: []int{3, 4}}, Merged: []string{}},
		none + "turn 2 is taken back":            {Conversation: dropped(2), TargetAddress: "login@1"},
		none + "turns 2 and 3 are taken back":    {Conversation: dropped(2, 3)},
		none + "turns 2 to 5 are taken back":     {Conversation: dropped(2, 3, 4, 5)},
		none + "turns 2, 4 and 5 are taken back": {Conversation: dropped(2, 4, 5)},
		none + "as it was then":                  {Conversation: missions.ConversationRestore{EventsKept: 3, Switched: true}},
	} {
		if got := restoreCounts(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestGitPlace(t *testing.T) {
	t.Parallel()
	const head = "3f2ac1d0e5b94a7788990011223344556677aabb"
	for want, g := range map[string]missions.GitState{
		"no repository":          {},
		"main 3f2ac1d0e5":        {Branch: "main", Head: head},
		"detached at 3f2ac1d0e5": {Head: head},
		"main without a commit":  {Branch: "main"},
	} {
		if got := gitPlace(g); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRestoredNamesMission: what is to be typed next says whose it is, since another
// mission may work there too.
func TestRestoredNamesMission(t *testing.T) {
	t.Parallel()
	r := missions.RestoreResult{MissionName: "login", Target: strings.Repeat("a", 40), Snapshot: strings.Repeat("b", 40), Done: true}
	queued := missions.RestoreResult{MissionName: "login", Queued: true}
	for want, said := range map[string]struct {
		did string
		r   missions.RestoreResult
	}{
		"umbra undo login\n":                     {"restore", r},
		"umbra redo login\n":                     {"undo", r},
		"(umbra undo login --queued cancels it)": {"restore", queued},
	} {
		var b strings.Builder
		p := print.To(&b)
		WriteOutcome(p, said.did, said.r)
		if err := p.Flush(); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%s says %q: %v, want %q", said.did, b.String(), err, want)
		}
	}
}

// TestIsPart: what the user has asked to keep is not missing from what was done.
func TestIsPart(t *testing.T) {
	t.Parallel()
	others, denied := missions.PathReason{Path: "a", Reason: "changed by you"}, missions.PathReason{Path: "a", Reason: "permission denied"}
	result := func(kept, displaced []missions.PathReason) missions.RestoreResult {
		return missions.RestoreResult{Done: true, Kept: kept, Displaced: displaced, Foreign: []missions.PathReason{others}}
	}
	for name, c := range map[string]struct {
		outcome
		want bool
	}{
		"whole":                {outcome{result(nil, nil), true}, false},
		"kept as asked":        {outcome{result([]missions.PathReason{others}, nil), true}, false},
		"kept unasked":         {outcome{result([]missions.PathReason{others}, nil), false}, true},
		"and one that is not":  {outcome{result([]missions.PathReason{others, denied}, nil), true}, true},
		"displaced beside it":  {outcome{result([]missions.PathReason{others}, []missions.PathReason{others}), true}, true},
		"nothing was done yet": {outcome{missions.RestoreResult{Kept: []missions.PathReason{denied}}, false}, false},
	} {
		if got := c.isPart(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
