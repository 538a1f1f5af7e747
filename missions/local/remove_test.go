package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// startKept starts a process as the agent of the bench's mission, whose keeper
// is this process. ended is closed when it has ended.
func (b *testBench) startKept(id string, keeper int) (agent *exec.Cmd, ended chan struct{}) {
	b.Helper()
	agent, ended = exec.Command("sleep", "6000"), make(chan struct{})
	if err := agent.Start(); err != nil {
		b.Fatal(err)
	}
	go func() {
		_ = agent.Wait()
		close(ended)
	}()
	b.Cleanup(func() {
		_ = agent.Process.Kill()
		<-ended
	})
	if _, err := b.local.Keep(context.Background(), missions.KeepRequest{Mission: id, KeeperPID: keeper, AgentPID: agent.Process.Pid}); err != nil {
		b.Fatal(err)
	}
	return agent, ended
}

// TestRemoveByForce stops a live agent, and then removes its mission.
func TestRemoveByForce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	_, ended := b.startKept(m.ID, 4194304)
	request := missions.RemoveRequest{Caller: b.caller(), Missions: []string{"work"}}
	_, err := b.local.Remove(context.Background(), request)
	b.fails("removing a live mission", err, missions.KindBusy)
	if hint := missions.AsError(err).Hint; !strings.Contains(hint, "umbra mission rm work --force") {
		t.Errorf("hint: %s", hint)
	}
	request.Force, request.Preview = true, true
	if _, err = b.local.Remove(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		t.Fatal("a preview stopped the agent")
	default:
	}
	request.Preview = false
	removed, err := b.local.Remove(context.Background(), request)
	if err != nil || len(removed.Missions) != 1 || len(removed.Trash) == 0 {
		t.Fatalf("removed: %+v %v", removed, err)
	}
	<-ended
	if list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()}); err != nil || len(list) != 0 {
		t.Errorf("missions left: %+v %v", list, err)
	}
	b.healthy()
}

// TestUnseenAgent: a process in another pid namespace is not taken for gone.
// Nothing is done to its mission without the user's word.
func TestUnseenAgent(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*testBench, *exec.Cmd) {
		b := newBench(t)
		b.write("a.txt", "one\n")
		m := b.mission("work")
		agent, _ := b.startKept(m.ID, os.Getpid())
		p, err := b.local.MissionByID(m.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []*lock.Owner{p.Live.Keeper, p.Live.Agent} {
			o.Namespace = "pid:[1]"
		}
		b.local.SaveLiveState(p)
		return b, agent
	}
	running := func(b *testBench, agent *exec.Cmd) {
		b.Helper()
		if lock.Process(agent.Process.Pid, "").Liveness() != lock.Alive {
			b.Error("the agent was ended")
		}
		if m, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller(), Name: "work"}); err != nil || m.State == missions.StateClosed {
			b.Errorf("the mission: %+v %v", m, err)
		}
	}
	t.Run("refused", func(t *testing.T) {
		b, agent := start(t)
		_, err := b.local.Stop(context.Background(), missions.StopRequest{Caller: b.caller(), Missions: []string{"work"}})
		b.fails("stopping it", err, missions.KindFailed)
		if !strings.Contains(missions.AsError(err).Hint, "umbra mission stop work --force") {
			t.Errorf("hint: %s", missions.AsError(err).Hint)
		}
		_, err = b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "work", Resume: true, KeeperPID: os.Getpid()})
		b.fails("a second agent", err, missions.KindBusy)
		_, err = b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{"work"}})
		b.fails("removing it", err, missions.KindBusy)
		if err := b.local.CloseLostMissions(context.Background()); err != nil {
			t.Error(err)
		}
		running(b, agent)
		b.healthy()
	})
	t.Run("the user's word", func(t *testing.T) {
		b, _ := start(t)
		list, err := b.local.Stop(context.Background(), missions.StopRequest{Caller: b.caller(), Missions: []string{"work"}, Force: true})
		if err != nil || len(list) != 1 || list[0].CloseReason != missions.CloseReasonLost {
			t.Errorf("stopped: %+v %v", list, err)
		}
		b.healthy()
	})
}

// TestRemoveMovedWorkspace says what stays of a workspace that was moved: it is not
// what Umbra made where it made it.
func TestRemoveMovedWorkspace(t *testing.T) {
	t.Parallel()
	for name, told := range map[string]bool{"told": true, "untold": false} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.versioned()
			b.mission("work")
			made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "fix"})
			if err != nil {
				t.Fatal(err)
			}
			old := made.Missions[0].Workspace
			now := old + "-moved"
			b.git("worktree", "move", "-f", "-f", old, now)
			stays := old
			if told {
				if _, err := b.local.MoveProject(context.Background(), missions.MoveProjectRequest{Caller: b.caller(), Old: old, New: now}); err != nil {
					t.Fatal(err)
				}
				stays = now
			}
			request := missions.RemoveRequest{Caller: b.caller(), Missions: []string{"fix"}, Workspace: true, Preview: told}
			if told {
				listed, err := b.local.Remove(context.Background(), request)
				if err != nil || len(listed.Kept) != 1 {
					t.Errorf("listed: %+v %v", listed.Kept, err)
				}
				request.Preview = false
			}
			done, err := b.local.Remove(context.Background(), request)
			if err != nil || !strings.Contains(strings.Join(done.Kept, "\n"), stays) {
				t.Errorf("kept: %q %v", done.Kept, err)
			}
			b.stands(now, true)
			b.stands(old, false)
			b.healthy()
		})
	}
}

// TestRemovalSaysWhatIsOnlyThere counts the ignored files of a fork that its source has too,
// and names the others; of a workspace that is gone it says nothing.
func TestRemovalSaysWhatIsOnlyThere(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.versioned()
	b.write(".gitignore", "*.log\ncache/\n")
	b.write("a.log", "of the source\n")
	b.write("cache/b", "of the source\n")
	b.mission("work")
	made, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "work", Name: "fix"})
	if err != nil {
		t.Fatal(err)
	}
	fork := made.Missions[0].Workspace
	b.put(filepath.Join(fork, "own.log"), "only here\n")
	request := missions.RemoveRequest{Caller: b.caller(), Missions: []string{"fix"}, Workspace: true, Preview: true}
	r, err := b.local.Remove(ctx, request)
	if err != nil || r.CopiedFiles != 2 || len(r.IgnoredFiles) != 1 || r.IgnoredFiles[0] != "own.log" {
		t.Errorf("only there: %d, %q, %v", r.CopiedFiles, r.IgnoredFiles, err)
	}
	b.put(filepath.Join(fork, "cache/c"), "only here\n")
	if r, err = b.local.Remove(ctx, request); err != nil || r.CopiedFiles != 1 || len(r.IgnoredFiles) != 2 {
		t.Errorf("in a directory: %d, %q, %v", r.CopiedFiles, r.IgnoredFiles, err)
	}
	if err := os.RemoveAll(fork); err != nil {
		t.Fatal(err)
	}
	request.Workspace, request.Preview = false, false
	if r, err = b.local.Remove(ctx, request); err != nil || len(r.Kept) != 1 || !strings.Contains(r.Kept[0], "stays in the list of git worktree") {
		t.Errorf("stays: %q %v", r.Kept, err)
	}
}
