package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// mayNotLeave holds that a side fork can be left in no way that is asked for, and why: its agent
// is there still, and its user can do something about it.
func (k *keptAgent) mayNotLeave(fork missions.Mission, why, hint string) {
	k.Helper()
	ctx, agent, c := context.Background(), k.agent, k.caller()
	c.Cwd = fork.Workspace
	for how, leave := range map[string]func() error{
		"left": func() error {
			_, err := k.local.LeaveFork(ctx, missions.LeaveForkRequest{Caller: c, Fork: fork.Name})
			return err
		},
		"planned": func() error {
			_, err := k.local.LeaveFork(ctx, missions.LeaveForkRequest{Caller: c, Fork: fork.Name, Preview: true})
			return err
		},
		"promoted": func() error {
			_, err := k.local.Promote(ctx, missions.PromoteRequest{Caller: c, Fork: fork.Name})
			return err
		},
	} {
		err := leave()
		e := missions.AsError(err)
		if err == nil || !strings.Contains(e.Message, why) || !strings.Contains(e.Hint, hint) || !strings.HasSuffix(e.Hint, "umbra mission stop "+fork.Name+" ends the fork all the same") {
			k.Errorf("%s: %v", how, err)
		}
	}
	now, err := k.local.Mission(ctx, missions.MissionRequest{Caller: c, Name: fork.Name})
	if err != nil {
		k.Fatal(err)
	}
	if now.SideForkOf != "live" || now.PID != agent.Process.Pid || now.PendingAction != "" || k.agent != agent {
		k.Errorf("the fork is %+v", now)
	}
}

// TestSideForkHeldUntilParentCanReturn: a side fork is not left where its parent's agent could
// not be launched then; once that is mended, it is.
func TestSideForkHeldUntilParentCanReturn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		inPlace   bool
		gone      func(k *keptAgent)
		why, hint string
	}{
		"program": {
			gone: func(k *keptAgent) { rename(k, filepath.Join(k.path, "claude"), filepath.Join(k.path, "elsewhere")) },
			why:  "the agent of live could not be launched again: claude is not on PATH", hint: "umbra mission resume live -- COMMAND",
		},
		"workspace": {
			gone: func(k *keptAgent) { rename(k, k.dir, k.dir+".away") },
			why:  "the agent of live could not be launched again: its workspace ", hint: "umbra project move ",
		},
		"branch": {
			inPlace: true, gone: func(k *keptAgent) { k.git("checkout", "-q", "-b", "aside") },
			why: "live could not get its files back: the repository is on branch aside now", hint: "git switch ",
		},
		"another agent": {
			inPlace: true, gone: func(k *keptAgent) {
				k.testBench.mission("beside")
				other := newTalker(k.testBench)
				other.hook("SessionStart", map[string]any{"source": "startup"})
			},
			why: "live could not get its files back: mission ", hint: "end it first",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeptAgent(t)
			var fork missions.Mission
			if c.inPlace {
				k.git("init", "-q", "-b", "main")
				k.git("add", "a.txt")
				k.git("commit", "-qm", "first")
				fork = k.enterInPlace()
			} else {
				fork = k.missionNamed(k.enter("").ForkName)
			}
			c.gone(k)
			k.mayNotLeave(fork, c.why, c.hint)
		})
	}
}

// TestSideForkHeldAtTurnsEnd: where the program is gone by the end of the turn, the fork goes on,
// and its mission says why; once the program is there again, the fork is left.
func TestSideForkHeldAtTurnsEnd(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	fork := k.missionNamed(k.enter("").ForkName)
	k.mission, k.session, k.transcript = fork.ID, fork.SessionID, fork.SessionPath
	leave := func() (missions.SideForkResult, error) {
		return k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: fork.ID})
	}
	k.hook("UserPromptSubmit", map[string]any{"prompt": "leave"})
	if left, err := leave(); err != nil || !left.Queued {
		t.Fatalf("left: %+v, %v", left, err)
	}
	program := filepath.Join(k.path, "claude")
	rename(k, program, program+".away")
	k.hook("Stop", nil)
	k.local.Workers.Wait()
	m, err := k.local.MissionByID(fork.ID)
	if err != nil {
		t.Fatal(err)
	}
	if why := m.Live.NotRestoredReason; !strings.Contains(why, "claude is not on PATH") || m.Live.Agent == nil || m.Live.Handover != nil {
		t.Errorf("said %q, the fork is %+v", why, m.Live)
	}
	rename(k, program+".away", program)
	done := k.keeps()
	if left, err := leave(); err != nil || left.Resume != "" {
		t.Errorf("left: %+v, %v", left, err)
	}
	if next := <-done; next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id {
		t.Errorf("next: %+v", next)
	}
}

// rename moves a file that a launch needs out of the way.
func rename(k *keptAgent, from, to string) {
	k.Helper()
	if err := os.Rename(from, to); err != nil {
		k.Fatal(err)
	}
	k.Cleanup(func() { _ = os.Rename(to, from) })
}
