package local

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
)

// keep notes a running process as a mission's agent, and returns it.
func (b *testBench) keep(mission string) *exec.Cmd {
	b.Helper()
	agent := exec.Command("sleep", "6000")
	if err := agent.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		agent.Process.Kill()
		agent.Wait()
	})
	if _, err := b.local.Keep(context.Background(), missions.KeepRequest{Mission: mission, KeeperPID: os.Getpid(), AgentPID: agent.Process.Pid}); err != nil {
		b.Fatal(err)
	}
	return agent
}

// TestRemoveBeneathAnAgent leaves a workspace where another mission's agent works
// in it, and names those that worked in it once.
func TestRemoveBeneathAnAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "forked"})
	if err != nil {
		t.Fatal(err)
	}
	there := *b
	there.dir = r.Missions[0].Workspace
	guest := there.mission("guest")
	there.keep(guest.ID)
	remove := func(preview bool) (missions.RemoveResult, error) {
		return b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"forked"}, Workspace: true, Preview: preview})
	}
	for _, preview := range []bool{true, false} {
		_, err = remove(preview)
		b.fails("beneath an agent", err, missions.KindBusy)
	}
	forked, err := b.local.FindMission(context.Background(), b.caller(), "forked", addresses.InProject)
	if err != nil {
		t.Fatal(err)
	}
	var result missions.RemoveResult
	b.fails("one that began meanwhile", b.local.TrashWorkspace(context.Background(), forked, 0, &result), missions.KindBusy)
	if _, err := os.Stat(there.dir); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Keep(context.Background(), missions.KeepRequest{Mission: guest.ID, Ended: true}); err != nil {
		t.Fatal(err)
	}
	if r, err := remove(true); err != nil || len(r.OtherMissions) != 1 || r.OtherMissions[0] != "guest" {
		t.Errorf("listed: %+v %v", r, err)
	}
	if _, err := remove(false); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(there.dir); !os.IsNotExist(err) {
		t.Errorf("the workspace: %v", err)
	}
}

// TestWorkspaceVanishes closes a mission whose workspace is gone when its agent
// ends, whoever hears of the end.
func TestWorkspaceVanishes(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, end := range map[string]func(b *testBench, m missions.Mission, agent *exec.Cmd) error{
		"told by its keeper": func(b *testBench, m missions.Mission, agent *exec.Cmd) error {
			_, err := b.local.Keep(ctx, missions.KeepRequest{Mission: m.ID, Ended: true, ExitCode: 3})
			return err
		},
		"found lost": func(b *testBench, m missions.Mission, agent *exec.Cmd) error {
			agent.Process.Kill()
			agent.Wait()
			one, err := b.local.MissionByID(m.ID)
			if err != nil {
				return err
			}
			return b.local.CloseLostMission(ctx, one)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.write("a.txt", "one\n")
			m := b.mission("work")
			agent := b.keep(m.ID)
			if name == "found lost" { // no keeper either
				one, err := b.local.MissionByID(m.ID)
				if err != nil {
					t.Fatal(err)
				}
				one.Live.Keeper = nil
				b.local.SaveLiveState(one)
			}
			if err := os.Rename(b.dir, b.dir+"-elsewhere"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(b.dir, 0o755); err != nil { // another in its place
				t.Fatal(err)
			}
			if err := end(b, m, agent); err != nil {
				t.Errorf("the end: %v", err)
			}
			now, err := b.local.Mission(ctx, missions.MissionRequest{Caller: b.caller(), Name: m.ID})
			if err != nil || now.State != missions.StateClosed || now.Head != m.Head || len(now.Problems) == 0 {
				t.Errorf("after the end: %+v %v", now, err)
			}
			_, err = b.local.Snapshot(ctx, missions.SnapshotRequest{Caller: b.caller(), Mission: m.ID})
			b.fails("a snapshot by hand", err, missions.KindFailed)
			if hint := missions.AsError(err).Hint; !strings.HasPrefix(hint, "umbra project move "+b.dir+" "+b.dir+"-elsewhere") {
				t.Errorf("hint: %s", hint)
			}
		})
	}
}
