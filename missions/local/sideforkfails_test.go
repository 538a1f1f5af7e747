package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// keepsFailing is a keeper that can't start the agent that it is told to launch next.
func (k *keptAgent) keepsFailing() (done chan missions.KeepResult) {
	done = make(chan missions.KeepResult, 1)
	go func() {
		next := k.end()
		if next.Do == missions.DoRelaunch {
			next = k.failStart(*next.Launch)
		}
		done <- next
	}()
	return done
}

// failStart reports that the agent of a launch could not be started, and launches what is next.
func (k *keptAgent) failStart(launch missions.Launch) missions.KeepResult {
	k.Helper()
	next, err := k.local.Keep(context.Background(), missions.KeepRequest{
		Caller: k.keeper(), Mission: launch.Mission.ID, Launch: launch.ID, KeeperPID: os.Getpid(), Ended: true, ExitCode: 125, Failed: "claude is not on PATH",
	})
	if err != nil {
		panic(err) // whichever goroutine waits for it
	}
	if next.Do == missions.DoRelaunch {
		k.begin(*next.Launch)
	}
	return next
}

// TestSideForkNotStarted: where the fork's agent can't be started, the parent goes on in its
// terminal, and who entered the fork is told why.
func TestSideForkNotStarted(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	done := k.keepsFailing()
	_, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: k.caller(), Moment: "live"})
	e := missions.AsError(err)
	if err == nil || !strings.Contains(e.Message, "could not be launched: claude is not on PATH") || !strings.HasPrefix(e.Hint, "live goes on in its terminal") {
		t.Errorf("entered: %v", err)
	}
	next := <-done
	const banner = "could not be launched: claude is not on PATH; back in live"
	if next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id || !strings.Contains(next.Banner, banner) {
		t.Fatalf("next: %+v", next)
	}
	if parent := k.missionNamed("live"); parent.State != missions.StateIdle || parent.SideFork != "" {
		t.Errorf("the parent is %+v", parent)
	}
	if fork := k.missionNamed("live-fork-1"); fork.State != missions.StateClosed || fork.LastError != "claude is not on PATH" || fork.PID != 0 {
		t.Errorf("the fork is %+v", fork)
	}
	k.healthy()
}

// TestSideForkParentNotStarted: where the parent's agent can't be started when the fork is
// left, who left it is told what brings the parent back.
func TestSideForkParentNotStarted(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	r := k.enter("")
	done := k.keepsFailing()
	left, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: r.Fork})
	if err != nil || left.Resume != "umbra mission resume live" {
		t.Errorf("left: %+v, %v", left, err)
	}
	if next := <-done; next.Do != missions.DoExit {
		t.Errorf("next: %+v", next)
	}
	if parent := k.missionNamed("live"); parent.State != missions.StateClosed || parent.PID != 0 {
		t.Errorf("the parent is %+v", parent)
	}
	k.healthy()
}

// TestSideForkWorkspaceGone: a side fork is left also where its workspace was deleted.
func TestSideForkWorkspaceGone(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(k *keptAgent, fork string, remove func()){
		"by a command": func(k *keptAgent, fork string, remove func()) {
			remove()
			if left, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: fork}); err != nil || left.Resume != "" {
				k.Errorf("left: %+v, %v", left, err)
			}
		},
		"by its agent's end": func(k *keptAgent, _ string, remove func()) {
			remove()
			_ = k.agent.Process.Kill()
		},
		"at its turn's end": func(k *keptAgent, fork string, remove func()) {
			k.hook("UserPromptSubmit", map[string]any{"prompt": "leave"})
			own := k.caller()
			own.Mission = fork
			if left, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: own}); err != nil || !left.Queued {
				k.Errorf("left: %+v, %v", left, err)
			}
			remove()
			k.hook("Stop", nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeptAgent(t)
			fork := k.missionNamed(k.enter("").ForkName)
			k.mission, k.session, k.transcript = fork.ID, fork.SessionID, fork.SessionPath
			done := k.keeps()
			leave(k, fork.ID, func() {
				if err := os.RemoveAll(fork.Workspace); err != nil {
					t.Fatal(err)
				}
			})
			if next := <-done; next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id {
				t.Fatalf("next: %+v", next)
			}
			if parent := k.missionNamed("live"); parent.State != missions.StateIdle {
				t.Errorf("the parent is %+v", parent)
			}
			if fork = k.missionNamed(fork.ID); fork.State != missions.StateClosed || fork.CloseReason != missions.CloseReasonDiscarded {
				t.Errorf("the fork is %s, %s", fork.State, fork.CloseReason)
			}
		})
	}
}

// TestSideForkWithoutRoom: a side fork is left also where the disk has no room; its last
// snapshot is taken when there is.
func TestSideForkWithoutRoom(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(k *keptAgent, fork string){
		"by a command": func(k *keptAgent, fork string) {
			if left, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: fork}); err != nil || left.Resume != "" {
				k.Errorf("left: %+v, %v", left, err)
			}
		},
		"by its agent's end": func(k *keptAgent, _ string) { _ = k.agent.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeptAgent(t)
			fork := k.missionNamed(k.enter("").ForkName)
			if err := os.WriteFile(filepath.Join(fork.Workspace, "new.txt"), []byte("new\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			space := k.local.Space
			k.local.Space = home.NewSpace(k.local.Home, settings.Storage{}, func(string) (uint64, error) { return 0, nil })
			done := k.keeps()
			leave(k, fork.ID)
			if next := <-done; next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id {
				t.Fatalf("next: %+v", next)
			}
			k.local.Space = space
			if parent := k.missionNamed("live"); parent.State != missions.StateIdle {
				t.Errorf("the parent is %+v", parent)
			}
			left, err := k.local.MissionByID(fork.ID)
			if err != nil {
				t.Fatal(err)
			}
			if c, _ := left.Lifecycle.(missions.Closed); c.Reason != missions.CloseReasonDiscarded || left.Live.OwedSnapshot == nil {
				t.Errorf("the fork is %+v, it is owed %+v", left.Lifecycle, left.Live.OwedSnapshot)
			}
			k.healthy()
		})
	}
}

// TestSideForkPostponed: a fork that was made to be entered is entered only while it is of
// the parent's newest moment.
func TestSideForkPostponed(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	prepare := func(a projects.Action) projects.Action {
		a, err := k.local.Exchanger.Prepare(context.Background(), k.state(), a)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := prepare(projects.Action{Enter: &missions.EnterForkRequest{Caller: k.caller(), Mission: k.id}})
	if again := prepare(first); again.Enter.Fork != first.Enter.Fork {
		t.Errorf("another fork of the same moment: %s, %s", first.Enter.Fork, again.Enter.Fork)
	}
	k.takeTurn("third", "a.txt", "three\n")
	late := prepare(first)
	if late.Enter.Fork == first.Enter.Fork {
		t.Error("the fork of before the turn is entered after it")
	}
	if got, err := os.ReadFile(filepath.Join(k.missionNamed(late.Enter.Fork).Workspace, "a.txt")); err != nil || string(got) != "three\n" {
		t.Errorf("the fork has %q, %v", got, err)
	}
	k.healthy()
}

// changeOf changes the live state of a mission as another process would.
func (k *keptAgent) changeOf(id string, fn func(*projects.Mission)) {
	k.Helper()
	was := k.id
	defer func() { k.id = was }()
	k.id = id
	k.change(fn)
}

// TestSideForkEndsWithQueued: what waited for the end of a turn in which the fork's agent has
// ended is not dropped without a word.
func TestSideForkEndsWithQueued(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	r := k.enter("")
	k.changeOf(r.Fork, func(m *projects.Mission) {
		m.Live.QueuedRestore = &projects.Action{Undo: &missions.UndoRequest{Caller: k.caller(), Mission: m.ID}}
	})
	_ = k.agent.Process.Kill()
	if next := <-k.keeps(); next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id {
		t.Errorf("next: %+v", next)
	}
	fork, err := k.local.MissionByID(r.Fork)
	if err != nil {
		t.Fatal(err)
	}
	if why := fork.Live.NotRestoredReason; !strings.Contains(why, "the undo was not done: the side fork was left") || fork.Live.QueuedRestore != nil {
		t.Errorf("said %q, waits %+v", why, fork.Live.QueuedRestore)
	}
	k.healthy()
}

// TestSideForkOfAnotherKeeper: a keeper launches no parent that is parked in another's
// terminal; it says what brings the parent back, and that the agent's exit code means nothing.
func TestSideForkOfAnotherKeeper(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	r := k.enter("")
	a := projects.Action{Leave: &missions.LeaveForkRequest{Caller: k.caller(), Fork: r.Fork, Parent: k.id}}
	h := &projects.Handover{ID: k.local.NewID(), LaunchID: k.launch.ID, Action: a, Owner: deadOwner, Done: true, Next: k.id}
	k.changeOf(r.Fork, func(m *projects.Mission) { m.Live.Handover = h })
	k.change(func(m *projects.Mission) { m.Live.SideFork.Keeper = deadOwner })
	_ = k.agent.Process.Kill()
	next := k.end()
	want := "umbra: " + r.ForkName + " was left; the agent of live could not be launched here: " +
		"mission live was launched elsewhere meanwhile\n  umbra mission resume live"
	if next.Do != missions.DoExit || !next.NotLaunched || next.Banner != want {
		t.Errorf("next: %+v", next)
	}
}

// TestSideForkAutomations: the automations of an agent's end run when a terminal is passed on.
func TestSideForkAutomations(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.local.Config.Automations.Close = []string{"true"}
	run := make(chan string, 2)
	k.local.StartAutomation = func(a agents.Automation) error {
		run <- a.On + " of " + a.Name
		return nil
	}
	fork := k.enter("").ForkName
	if got := <-run; got != "close of live" {
		t.Errorf("entered: %s", got)
	}
	done := k.keeps()
	if _, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: fork}); err != nil {
		t.Fatal(err)
	}
	<-done
	if got := <-run; got != "close of "+fork {
		t.Errorf("left: %s", got)
	}
}

// TestSideForkKeeperKilled: a keeper that is killed once a side fork is promoted takes nothing
// of that back: whoever asked is told that it is done, and how to go on.
func TestSideForkKeeperKilled(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	fork := k.missionNamed(k.enter("").ForkName)
	if err := os.WriteFile(filepath.Join(fork.Workspace, "a.txt"), []byte("of the fork\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	prepare := k.local.PrepareTerminal
	k.local.PrepareTerminal = func(ctx context.Context, m *projects.Mission, a projects.Action) (projects.Action, error) {
		a, err := prepare(ctx, m, a)
		k.changeOf(fork.ID, func(m *projects.Mission) { m.Live.Keeper = &deadOwner })
		return a, err
	}
	p, err := k.local.Promote(context.Background(), missions.PromoteRequest{Caller: k.caller(), Fork: fork.Name})
	if err != nil || !p.Done || p.Snapshot == "" || p.Handover == nil || p.Handover.Type != "umbra mission resume live" {
		t.Errorf("promoted: %+v, %v", p, err)
	}
	if got := k.read("a.txt"); got != "of the fork\n" {
		t.Errorf("a.txt is %q", got)
	}
	if fork = k.missionNamed(fork.Name); fork.CloseReason != missions.CloseReasonPromoted || fork.PID != 0 {
		t.Errorf("the fork is %+v", fork)
	}
	k.healthy()
}

// TestSideForkAllKilled: where whoever promoted a side fork was killed with its keeper, it is
// not said that it was not promoted.
func TestSideForkAllKilled(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	r := k.enter("")
	leave := missions.LeaveForkRequest{Caller: k.caller(), Fork: r.Fork, Parent: k.id, Promote: &missions.PromoteRequest{Caller: k.caller(), Fork: r.Fork}}
	k.changeOf(r.Fork, func(m *projects.Mission) {
		m.Live.Keeper = &deadOwner
		m.Live.Handover = &projects.Handover{
			ID: k.local.NewID(), LaunchID: k.launch.ID, Action: projects.Action{Leave: &leave}, Owner: deadOwner, Queued: true, Prepared: true,
		}
	})
	if err := k.local.ResumeHandovers(context.Background()); err != nil {
		t.Fatal(err)
	}
	fork, err := k.local.MissionByID(r.Fork)
	if err != nil {
		t.Fatal(err)
	}
	if live := fork.Live; live.NotRestoredReason != "" || live.QueuedRestore != nil || live.Handover != nil {
		t.Errorf("said %q, waits %+v, handover %+v", live.NotRestoredReason, live.QueuedRestore, live.Handover)
	}
	k.healthy()
}

// TestSideForkEnteredAsServiceLeaves: which fork was entered is said also by a Service that is
// about to end, and doesn't wait for the fork's agent.
func TestSideForkEnteredAsServiceLeaves(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.local.Depart()
	r, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: k.caller(), Moment: "live"})
	if err != nil || r.ForkName != "live-fork-1" || r.Fork != k.missionNamed("live-fork-1").ID || len(r.Notes) != 1 {
		t.Errorf("entered: %+v, %v", r, err)
	}
	if next := <-k.keeps(); next.Do != missions.DoRelaunch || next.Launch.Mission.ID != r.Fork {
		t.Errorf("next: %+v", next)
	}
	k.healthy()
}

// TestSideForkOnAFullDisk: where there is no room, whoever enters or promotes is told so and
// what helps, by a plan too; nobody's agent is ended, and nothing is left behind. A report is
// taken, and with room again the promotion is done.
func TestSideForkOnAFullDisk(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	space := k.local.Space
	full := home.NewSpace(k.local.Home, settings.Storage{}, func(string) (uint64, error) { return 0, nil })
	refused := func(what string, err error) {
		t.Helper()
		if err == nil {
			t.Errorf("%s on a full disk", what)
		} else if e := missions.AsError(err); e.Kind != missions.KindFailed || !strings.Contains(e.Message, "Umbra writes nothing") || !strings.HasPrefix(e.Hint, "free some space") {
			t.Errorf("%s: %v (%s)", what, err, e.Hint)
		}
	}
	k.local.Space = full
	for _, preview := range []bool{true, false} {
		_, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: k.caller(), Moment: "live", Preview: preview})
		refused("entered", err)
	}
	if parent := k.missionNamed("live"); parent.State != missions.StateIdle || parent.SideFork != "" || parent.PendingAction != "" {
		t.Errorf("the parent is %+v", parent)
	}
	k.local.Space = space
	fork := k.missionNamed(k.enter("").ForkName)
	if err := os.WriteFile(filepath.Join(fork.Workspace, "a.txt"), []byte("of the fork\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	k.local.Space = full
	promote := missions.PromoteRequest{Caller: k.caller(), Fork: fork.Name, Preview: true}
	plan, err := k.local.Promote(context.Background(), promote)
	if err != nil || len(plan.Refused) == 0 {
		t.Fatalf("planned: %+v, %v", plan, err)
	}
	refused("planned", plan.Refused[0])
	promote.Preview = false
	_, err = k.local.Promote(context.Background(), promote)
	refused("promoted", err)
	// Below what Umbra leaves free there is room for a few words still.
	if _, err := k.local.Report(context.Background(), missions.ReportRequest{Caller: k.caller(), Fork: fork.ID, Text: "a map is faster"}); err != nil {
		t.Errorf("reported: %v", err)
	}
	if now := k.missionNamed(fork.Name); now.State != missions.StateIdle || now.SideForkOf != "live" || now.PendingAction != "" || k.read("a.txt") != "two\n" {
		t.Errorf("the fork is %+v, a.txt %q", now, k.read("a.txt"))
	}
	k.local.Space = space
	done := k.keeps()
	if p, err := k.local.Promote(context.Background(), promote); err != nil || !p.Done || k.read("a.txt") != "of the fork\n" {
		t.Errorf("promoted when there is room: %+v, %v", p, err)
	}
	<-done
	k.healthy()
}
