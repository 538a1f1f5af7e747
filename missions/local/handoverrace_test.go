package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestHandoverThatNobodyIsLeftFor: who asked for it died, then the keeper. The agent
// goes on, or ends, and no handover is said to be under way for ever; what had
// waited for the end of a turn is done.
func TestHandoverThatNobodyIsLeftFor(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*keptAgent){
		"it ends": func(k *keptAgent) { k.hook("SessionEnd", map[string]any{"reason": "other"}) },
		"a turn":  func(k *keptAgent) { k.takeTurn("third", "b.txt", "three\n") },
		"recovered": func(k *keptAgent) {
			if err := k.local.Recover(context.Background()); err != nil {
				k.Fatal(err)
			}
		},
	} {
		for _, queued := range []bool{false, true} {
			k := newKeptAgent(t)
			k.mark(k.restoreOf("live@1"), queued)
			gone := lock.Process(os.Getpid(), "")
			gone.Start++ // another process has its pid now
			k.change(func(m *projects.Mission) { m.Live.Keeper = &gone })
			leave(k)
			if m := k.state(); m.Live.Handover != nil || m.Live.QueuedRestore != nil || k.restores() > 0 != queued {
				t.Errorf("%s, queued %v: %+v, %d restores", name, queued, m.Live, k.restores())
			}
			k.healthy()
		}
	}
}

// TestHandoverBegunAsTheAgentEnds: a handover that begins while a keeper tells of its
// agent's end, which came by itself, is not dropped by that.
func TestHandoverBegunAsTheAgentEnds(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	a := k.restoreOf("live@1")
	_ = k.agent.Process.Kill()
	told, q := make(chan missions.KeepResult, 1), k.local.MissionQueue(k.id)
	for q.IsBusy() { // with what came before
		runtime.Gosched()
	}
	k.change(func(m *projects.Mission) { // the mission is held
		go func() { told <- k.end() }()
		for !q.IsBusy() {
			runtime.Gosched()
		}
		m.Live.Handover = &projects.Handover{ID: k.local.NewID(), LaunchID: k.launch.ID, Action: a, Owner: deadOwner}
	})
	if next := <-told; next.Do != missions.DoWait {
		t.Fatalf("next is %+v", next)
	}
	k.relaunched(k.end())
}

// TestStartToldAgain: a keeper whose answer was cut off tells of its agent's start
// again. That may be heard when the agent was ended for a handover meanwhile, or
// when the keeper was told already what to launch next: neither is undone by it.
func TestStartToldAgain(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*keptAgent){
		"carried out": func(*keptAgent) {},
		"relaunching": func(k *keptAgent) { k.end() },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			h := k.mark(k.restoreOf("live@1"), false)
			_ = k.agent.Process.Kill()
			<-k.ended
			k.own()
			if _, err := k.local.CompleteHandover(context.Background(), k.state(), h.ID); err != nil {
				t.Fatal(err)
			}
			before(k)
			launch := k.state().Live.LaunchID
			k.started()
			if now := k.state().Live.LaunchID; now != launch {
				t.Errorf("the mission waits for launch %s, before for %s", now, launch)
			}
			k.relaunched(k.end())
		})
	}
}

// TestHandoverThatIsLetGo: a process may live on that has let go of a handover, as
// where the workspace could not be held again to say so. Whoever looks next goes on
// with it: the process that serves from time to time, or the keeper whose agent has
// ended.
func TestHandoverThatIsLetGo(t *testing.T) {
	t.Parallel()
	leave := func(t *testing.T) *keptAgent {
		k := newKeptAgent(t)
		h := k.mark(k.restoreOf("live@1"), false)
		k.own()
		if err := os.Rename(k.dir, k.dir+"-away"); err != nil {
			t.Fatal(err)
		}
		_, _, err := k.local.CarryOutHandover(context.Background(), k.state(), h)
		k.fails("a handover without a workspace", err, missions.KindFailed)
		if err := os.Rename(k.dir+"-away", k.dir); err != nil {
			t.Fatal(err)
		}
		if _, at := k.local.Handovers.Load(h.ID); at || !k.state().Live.Handover.IsOpen() {
			t.Fatalf("it was not let go of: %+v", k.state().Live.Handover)
		}
		return k
	}
	t.Run("served", func(t *testing.T) {
		k := leave(t)
		if err := k.local.ResumeHandovers(context.Background()); err != nil {
			t.Fatal(err)
		}
		taken := false
		k.change(func(m *projects.Mission) { // it goes on when the mission is held no more
			if h := m.Live.Handover; h != nil {
				_, at := k.local.Handovers.Load(h.ID)
				taken = at || h.Done
			}
		})
		if !taken {
			t.Fatal("nobody goes on with it")
		}
		k.relaunched(k.end())
	})
	t.Run("kept", func(t *testing.T) {
		k := leave(t)
		_ = k.agent.Process.Kill()
		k.relaunched(k.end())
	})
}

// TestTakeUpLeavesOthersAlone: what somebody is at, what waits for the end of a turn
// and what the keeper asks for are not touched, nor is their workspace, which another
// holds here.
func TestTakeUpLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*keptAgent){
		"owned": func(k *keptAgent) {
			k.mark(k.restoreOf("live@1"), false)
			k.own()
		},
		"in a turn": func(k *keptAgent) {
			a := k.restoreOf("live@1")
			k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
			k.change(func(m *projects.Mission) { m.Live.QueuedRestore = &a })
		},
		"asked for": func(k *keptAgent) {
			k.mark(k.restoreOf("live@1"), false)
			_ = k.agent.Process.Kill()
			<-k.ended
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			leave(k)
			before := k.state().Live
			err := k.local.WithWorkspaceLock(context.Background(), k.state(), func(*projects.Mission) error {
				return k.local.ResumeHandovers(context.Background())
			})
			if err != nil {
				t.Fatal(err)
			}
			if now := k.state().Live; !reflect.DeepEqual(now, before) {
				t.Errorf("before %+v, now %+v", before, now)
			}
		})
	}
}

// TestNoHandoverWithoutAKeeper: one whose keeper died is over when it was carried
// out, or when the agent has ended: nobody is left who would launch it again.
func TestNoHandoverWithoutAKeeper(t *testing.T) {
	t.Parallel()
	gone := lock.Process(os.Getpid(), "")
	gone.Start++ // another process has its pid now
	die := func(m *projects.Mission) { m.Live.Keeper = &gone }
	for name, leave := range map[string]func(*keptAgent, *projects.Handover) error{
		"carried out": func(k *keptAgent, h *projects.Handover) error {
			k.change(die)
			_, err := k.local.CompleteHandover(context.Background(), k.state(), h.ID)
			return err
		},
		"launched again": func(k *keptAgent, h *projects.Handover) error {
			_, err := k.local.CompleteHandover(context.Background(), k.state(), h.ID)
			next := k.end() // the agent that this launches outlives its keeper, which has told nobody
			k.change(die)
			k.session = next.Launch.Mission.SessionID
			k.hook("SessionEnd", map[string]any{"reason": "other"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			h := k.mark(k.restoreOf("live@1"), false)
			k.own()
			_ = k.agent.Process.Kill()
			<-k.ended
			if err := leave(k, h); err != nil {
				t.Fatal(err)
			}
			if m := k.state(); m.Live.Handover != nil || k.restores() != 1 {
				t.Errorf("the handover is %+v after %d restores", m.Live.Handover, k.restores())
			}
			if err := k.local.CloseLostMissions(context.Background()); err != nil {
				t.Error(err)
			}
			k.healthy()
		})
	}
}

// TestWaitingForAnotherAsTheServiceEnds: the keeper is sent to whoever serves next
// at once, and a call that is cut off decides nothing.
func TestWaitingForAnotherAsTheServiceEnds(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*keptAgent, context.CancelFunc){
		"leaving": func(k *keptAgent, _ context.CancelFunc) { k.local.Leave() },
		"cut off": func(_ *keptAgent, cut context.CancelFunc) { cut() },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			h := k.mark(k.restoreOf("live@1"), false)
			k.own()
			_ = k.agent.Process.Kill()
			<-k.ended
			ctx, cut := context.WithCancel(context.Background())
			defer cut()
			k.local.Workers.Wait()
			clock := k.local.Clock
			now, asked := clock(), atomic.Int32{}
			k.local.Clock = func() time.Time { // no patience ends, and who asks for ever is cut off
				if asked.Add(1) > 500 {
					cut()
				}
				return now
			}
			leave(k, cut)
			next, err := k.local.Keep(ctx, missions.KeepRequest{Caller: k.keeper(), Mission: k.id, Launch: k.launch.ID, KeeperPID: os.Getpid(), Ended: true, ExitCode: 143})
			if err == nil != (next.Do == missions.DoWait) || err == nil != (name == "leaving") {
				t.Errorf("next is %+v, %v", next, err)
			}
			k.local.Workers.Wait() // whatever the call has left to others
			k.local.Clock = clock
			if _, err := k.local.CompleteHandover(context.Background(), k.state(), h.ID); err != nil {
				t.Fatal(err)
			}
			k.relaunched(k.end())
		})
	}
}

// TestEndingServiceLetsGo: a Service that is ending begins nothing that it could not
// end, and is not taken for one that is at it: whoever serves next is.
func TestEndingServiceLetsGo(t *testing.T) {
	t.Parallel()
	t.Run("taken up", func(t *testing.T) {
		k := newKeptAgent(t)
		h := k.mark(k.restoreOf("live@1"), false)
		k.local.End()
		if err := k.local.ResumeHandovers(context.Background()); err != nil {
			t.Fatal(err)
		}
		if m := k.state(); !m.Live.Handover.IsOpen() || k.local.IsHandoverOwned(m.Live.Handover) || m.Live.Handover.ID != h.ID {
			t.Fatalf("the handover is %+v", m.Live.Handover)
		}
		k.testBench = k.again()
		if err := k.local.ResumeHandovers(context.Background()); err != nil {
			t.Fatal(err)
		}
		k.relaunched(k.end())
	})
	t.Run("queued", func(t *testing.T) {
		k := newKeptAgent(t)
		a, before := k.restoreOf("live@1"), k.handovers()
		k.local.End()
		k.change(func(m *projects.Mission) {
			m.Live.QueuedRestore = &a
			k.local.PerformPendingAction(context.Background(), m)
		})
		if m := k.state(); m.Live.Handover != nil || m.Live.QueuedRestore == nil || k.handovers() != before {
			t.Fatalf("the handover is %+v, queued %v, of %d this process is at %d", m.Live.Handover, m.Live.QueuedRestore, before, k.handovers())
		}
		k.testBench = k.again()
		if err := k.local.ResumeHandovers(context.Background()); err != nil {
			t.Fatal(err)
		}
		k.relaunched(k.end())
	})
}

// handovers counts the handovers that goroutines of the Service are at.
func (k *keptAgent) handovers() (n int) {
	k.local.Handovers.Range(func(any, any) bool { n++; return true })
	return n
}

// TestTakenOverThatFails: a keeper's call that takes a handover over, and can't carry
// it out, is at it no more.
func TestTakenOverThatFails(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.mark(k.restoreOf("live@1"), false)
	k.local.RestoreStep = func(string) error { return errors.New("the disk is broken") }
	_ = k.agent.Process.Kill()
	next := k.end()
	if _, at := k.local.Handovers.Load(h.ID); at || next.Do != missions.DoRelaunch || !strings.Contains(next.Banner, "was not done") {
		t.Errorf("at it still: %v, next is %+v", at, next)
	}
	k.local.RestoreStep = nil
	k.healthy()
}

// TestWhoHandsOverIsWatched: the end of a process that is at a handover is to be
// noticed, as that of an agent is: what it has not ended is taken up. This process
// does not wait for its own end, nor for one that is gone.
func TestWhoHandsOverIsWatched(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.mark(k.restoreOf("live@1"), false)
	other := exec.Command("sleep", "6000")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	})
	watched := func(by lock.Owner) bool {
		k.change(func(m *projects.Mission) { m.Live.Handover.Owner = by })
		ws, ok := k.local.LiveWorkspaces()[k.dir]
		if !ok || len(ws.Processes) < 2 {
			t.Fatalf("live is %+v", ws)
		}
		return slices.Contains(ws.Processes[2:], by)
	}
	if !watched(lock.Process(other.Process.Pid, "umbra restore")) {
		t.Error("another that is at it is not watched")
	}
	k.local.Handovers.Store(h.ID, true)
	defer k.local.ReleaseHandover(h)
	if watched(k.local.Self) || watched(deadOwner) {
		t.Error("itself, or one that is gone, is watched")
	}
}
