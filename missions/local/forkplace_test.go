package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestForkBesideTheRemoved: what a removed mission has left where a fork of its name would be
// made, or in git's list of worktrees, hinders no fork, and stays as it is. A name that was
// given is refused where files are.
func TestForkBesideTheRemoved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lose func(workspace string) error
		kept string
	}{
		"its directory": {func(string) error { return nil }, "stays (--workspace moves it to the trash)"},
		"git's entry":   {os.RemoveAll, "is not there, but stays in the list of git worktree (--workspace takes it out)"},
		"moved by hand": {func(w string) error { return os.Rename(w, w+"-away") }, "is not there, but stays in the list of git worktree (--workspace takes it out)"},
	} {
		for _, given := range []string{"", "try"} {
			t.Run(name+" "+given, func(t *testing.T) {
				t.Parallel()
				b, ctx := newBench(t), context.Background()
				b.versioned()
				b.mission("work")
				request := missions.ForkRequest{Caller: b.caller(), From: "work", Name: given}
				var made []missions.Mission
				for n := range 3 {
					r, err := b.local.Fork(ctx, request)
					if n > 0 && given != "" && name == "its directory" {
						b.fails("files are there", err, missions.KindConflict)
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					made = append(made, r.Missions[0])
					last := made[n]
					if err := c.lose(last.Workspace); err != nil {
						t.Fatal(err)
					}
					removed, err := b.local.Remove(ctx, missions.RemoveRequest{Caller: b.caller(), Missions: []string{last.Name}})
					if err != nil || !slices.ContainsFunc(removed.Kept, func(kept string) bool { return strings.HasSuffix(kept, c.kept) }) {
						t.Fatalf("removed: %+v, %v", removed, err)
					}
				}
				first := made[0].Workspace
				for n, suffix := range []string{"", "+2", "+3"} {
					if m := made[n]; m.Name != made[0].Name || m.Workspace != first+suffix {
						t.Errorf("%s is in %s, the first %s in %s", m.Name, m.Workspace, made[0].Name, first)
					}
				}
				if name == "its directory" {
					b.stands(filepath.Join(first, ".git"), true)
				}
				b.healthy()
			})
		}
	}
}

// TestRemoveLostWorktree: with --workspace git's entry of a workspace that is gone goes too,
// and the next fork of that name is where the first was.
func TestRemoveLostWorktree(t *testing.T) {
	t.Parallel()
	b, ctx := newBench(t), context.Background()
	b.versioned()
	b.mission("work")
	request := missions.ForkRequest{Caller: b.caller(), From: "work", Name: "try"}
	first, err := b.local.Fork(ctx, request)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(first.Missions[0].Workspace); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Remove(ctx, missions.RemoveRequest{Caller: b.caller(), Missions: []string{"try"}, Workspace: true}); err != nil {
		t.Fatal(err)
	}
	again, err := b.local.Fork(ctx, request)
	if err != nil || again.Missions[0].Workspace != first.Missions[0].Workspace {
		t.Errorf("forked again: %+v, %v", again, err)
	}
	b.healthy()
}
