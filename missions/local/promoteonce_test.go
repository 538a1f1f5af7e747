package local

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestPromoteOnce: whoever leaves a side fork may be killed once it is promoted, and the next
// who does so promotes it again only where something of that is missing.
func TestPromoteOnce(t *testing.T) {
	t.Parallel()
	type request = missions.PromoteRequest
	for name, c := range map[string]struct {
		before, retried request
		goesOn          bool // the parent takes a turn in between
		working         bool // the fork is in a turn
		want            int
	}{
		"the same":                      {want: 1},
		"the same, of the files":        {before: request{FilesOnly: true}, retried: request{FilesOnly: true}, want: 1},
		"the same, of the conversation": {before: request{ConversationOnly: true}, retried: request{ConversationOnly: true}, want: 1},
		"of the files alone":            {before: request{FilesOnly: true}, want: 2},
		"of the conversation alone":     {before: request{ConversationOnly: true}, want: 2},
		"but for what was kept":         {before: request{KeepOthers: true}, retried: request{All: true}, want: 2},
		"once the parent went on":       {goesOn: true, want: 2},
		"of a fork at work":             {before: request{Force: true}, retried: request{Force: true}, working: true, want: 1},
		"with the commits":              {before: request{Commits: true}, retried: request{Commits: true}, want: 1},
		"the branch was not moved yet":  {retried: request{Commits: true}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, f := newForkedTalk(t)
			if c.retried.Commits {
				f.commitIn(f.dir)
			}
			missionOf := func(id string) *projects.Mission {
				m, err := k.local.MissionByID(id)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			fork := missionOf(f.mission)
			fork.Live.Beside, fork.Live.Keeper = true, &k.local.Self
			k.local.SaveLiveState(fork)
			if c.before.KeepOthers {
				k.write("a.txt", tenLines(1, "the parent's"))
			}
			if c.working {
				f.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
			}
			promote := func(r request) {
				t.Helper()
				r.Caller, r.Fork, r.Keep = k.caller(), fork.ID, true
				leave := missions.LeaveForkRequest{Caller: k.caller(), Fork: fork.ID, Parent: k.mission, Beside: true, Promote: &r}
				if _, err := k.local.Exchanger.Prepare(context.Background(), missionOf(fork.ID), projects.Action{Leave: &leave}); err != nil {
					t.Fatal(err)
				}
			}
			promote(c.before)
			if c.goesOn {
				k.takeTurn("third", "b.txt", "three\n")
			}
			before := k.messages(k.mission)
			promote(c.retried)
			if after := k.messages(k.mission); c.want == 1 && len(after) != len(before) {
				t.Errorf("promoting again took snapshots: %q, before it %q", after, before)
			}
			done := 0
			for _, m := range k.messages(k.mission) {
				if strings.HasPrefix(m, "promote ") {
					done++
				}
			}
			if done != c.want {
				t.Errorf("promoted %d times, want %d: %q", done, c.want, k.messages(k.mission))
			}
			if c.retried.Commits && k.commit("HEAD") != f.commit("HEAD") {
				t.Errorf("the branch is at %s, want %s", k.commit("HEAD"), f.commit("HEAD"))
			}
			k.healthy()
		})
	}
}
