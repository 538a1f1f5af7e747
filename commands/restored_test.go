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
