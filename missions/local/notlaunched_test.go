package local

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestNotLaunched: the snapshots of a mission say that nobody has launched its agent as long
// as the list of missions does, and no longer: an agent at its login has no turn either.
func TestNotLaunched(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	m, err := c.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: c.caller(), Name: "work", Command: []string{os.Args[0]}})
	if err != nil {
		t.Fatal(err)
	}
	mission := func(name string) missions.Mission {
		t.Helper()
		m, err := c.local.Mission(context.Background(), missions.MissionRequest{Caller: c.caller(), Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	says := func(when, name, list string, entries ...string) {
		t.Helper()
		if got := mission(name).StateWords(); got != list {
			t.Errorf("%s, the list says that %s is %q", when, name, got)
		}
		log, err := c.local.Log(context.Background(), missions.LogRequest{Caller: c.caller(), Mission: name})
		if err != nil || len(log) != len(entries) {
			t.Fatalf("%s: %d snapshots of %s (%v)", when, len(log), name, err)
		}
		for i, e := range log {
			shown, err := c.local.Show(context.Background(), missions.ShowRequest{Caller: c.caller(), Moment: e.ID})
			if err != nil || e.StateWords() != entries[i] || shown.Entry.StateWords() != entries[i] {
				t.Errorf("%s, %s is %q in the log, %q if shown, not %q (%v)", when, e.Address, e.StateWords(), shown.Entry.StateWords(), entries[i], err)
			}
		}
	}
	says("new", "work", missions.NotLaunched, missions.NotLaunched)
	launch, err := c.local.Launch(context.Background(), missions.LaunchRequest{Caller: c.caller(), Mission: m.ID, KeeperPID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	says("about to begin", "work", "initializing", "initializing")
	c.write("a.txt", "one\n")
	if _, err := c.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: c.caller(), Mission: "work"}); err != nil {
		t.Fatal(err)
	}
	says("about to begin", "work", "initializing", "initializing", "initializing")
	if _, err := c.local.Keep(context.Background(), missions.KeepRequest{Mission: m.ID, Launch: launch.ID, KeeperPID: os.Getpid(), AgentPID: os.Getppid()}); err != nil {
		t.Fatal(err)
	}
	says("at work", "work", "running", "initializing", "initializing")
	fork, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: "work@start", Name: "try"})
	if err != nil || len(fork.Missions) != 1 {
		t.Fatalf("%+v (%v)", fork, err)
	}
	says("forked", "try", missions.NotLaunched, "initializing") // its parent's
	if err := os.WriteFile(filepath.Join(fork.Missions[0].Workspace, "b.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: c.caller(), Mission: "try"}); err != nil {
		t.Fatal(err)
	}
	says("forked", "try", missions.NotLaunched, missions.NotLaunched, "initializing")
}
