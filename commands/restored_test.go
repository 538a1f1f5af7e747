package commands

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

func TestRestoreCounts(t *testing.T) {
	for want, r := range map[string]missions.RestoreResult{
		"1 changed, 0 created, 0 deleted":                                         {Modify: []string{"a"}},
		"0 changed, 0 created, 0 deleted; conversation: 3 events kept, 2 dropped": {Conversation: missions.ConversationRestore{Kept: 3, Dropped: 2, Switched: true}},
		"0 changed, 0 created, 0 deleted; conversation: as it was then":           {Conversation: missions.ConversationRestore{Kept: 3, Switched: true}},
	} {
		if got := restoreCounts(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestGitPlace(t *testing.T) {
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
