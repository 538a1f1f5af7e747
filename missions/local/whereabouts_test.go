package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestResumeAfterARemovalThatWasKilled: the removal has set the workspace aside beside its
// place, as it does on another disk, and was killed before it took the mission away. The
// workspace comes back; nothing names the place in the trash.
func TestResumeAfterARemovalThatWasKilled(t *testing.T) {
	t.Parallel()
	ctx, b := context.Background(), newBench(t)
	b.versioned()
	b.mission("work")
	made, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work", Name: "fix"})
	if err != nil {
		t.Fatal(err)
	}
	fork := made.Missions[0].Workspace
	b.put(filepath.Join(fork, "notes.log"), "only here\n")
	m, err := b.local.MissionByID(made.Missions[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(filepath.Dir(fork), beneath.ScratchName(m.Binding.Fork.Operation, 0))
	if err := os.Rename(fork, aside); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{b.dir, aside} {
		if to := m.Whereabouts(from); to != "" {
			t.Errorf("seen from %s, the workspace is in %s", from, to)
		}
	}
	inside := b.caller()
	inside.Cwd = aside
	if _, err := b.local.Launch(ctx, missions.LaunchRequest{Caller: inside, Mission: "fix", Resume: true}); err != nil {
		t.Fatal(err, missions.AsError(err).Hint)
	}
	b.stands(filepath.Join(fork, "notes.log"), true)
	b.stands(aside, false)
}

// TestWhereaboutsWithoutATimeOfBirth: a directory beside the lost workspace that has its number
// may be another one, unless the time of birth is the same, or the files are.
func TestWhereaboutsWithoutATimeOfBirth(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	other := filepath.Join(filepath.Dir(b.dir), "other")
	b.put(filepath.Join(other, "b.txt"), "two\n")
	for _, c := range []struct {
		name, dir, want string
		born            bool
	}{
		{"another one with its number", other, "", false},
		{"the same files", b.dir, b.dir, false},
		{"the same birth", other, other, true},
	} {
		m := b.stateNow()
		place, err := projects.DirectoryIdentity(c.dir)
		if err != nil {
			t.Fatal(err)
		}
		want := c.want
		if c.born && place.Born == 0 {
			want = ""
		}
		if !c.born {
			place.Born = 0
		}
		m.Binding.Workspace, m.Binding.Identity = b.dir+"-lost", place
		if got := m.Whereabouts(""); got != want {
			t.Errorf("%s: the workspace is in %q, want %q", c.name, got, want)
		}
	}
}

// TestLostWorkspaceInLists: lists look at nothing beside a lost workspace. Only the view of
// its mission alone does.
func TestLostWorkspaceInLists(t *testing.T) {
	t.Parallel()
	ctx, b := context.Background(), newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	away := b.dir + "-away"
	if err := os.Rename(b.dir, away); err != nil {
		t.Fatal(err)
	}
	elsewhere := b.caller()
	elsewhere.Cwd = t.TempDir()
	list, err := b.local.Missions(ctx, missions.MissionsRequest{Caller: elsewhere, All: true})
	if err != nil || len(list) != 1 || !strings.Contains(list[0].ForkBlockedReason, "work~0") {
		t.Errorf("the list: %+v, %v", list, err)
	}
	m, err := b.local.Mission(ctx, missions.MissionRequest{Caller: elsewhere, Name: "work"})
	if err != nil || !strings.Contains(m.ForkBlockedReason, "is in "+away+" now") {
		t.Errorf("the view: %q, %v", m.ForkBlockedReason, err)
	}
}
