package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// enter enters a side fork as from another terminal, and returns the fork.
func (k *keptAgent) enter(topic string) missions.SideForkResult {
	k.Helper()
	done := k.keeps()
	r, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: k.caller(), Moment: "live", Topic: topic})
	if err != nil {
		k.Fatal(err)
	}
	if next := <-done; next.Do != missions.DoRelaunch || next.Launch.Mission.ID != r.Fork {
		k.Fatalf("after %+v the keeper is told %+v", r, next)
	}
	return r
}

func (k *keptAgent) missionNamed(name string) missions.Mission {
	k.Helper()
	m, err := k.local.Mission(context.Background(), missions.MissionRequest{Caller: k.caller(), Name: name})
	if err != nil {
		k.Fatal(err)
	}
	return m
}

// TestSideFork enters a side fork and leaves it: one terminal, two missions, and the parent
// is as it was.
func TestSideFork(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	r := k.enter("try it with a map")
	if argv := k.launch.Argv; !slices.Contains(argv, "try it with a map") || r.Queued || r.Begun {
		t.Errorf("the fork is launched with %q after %+v", argv, r)
	}
	parent, fork := k.missionNamed("live"), k.missionNamed(r.ForkName)
	if parent.State != missions.StateClosed || parent.CloseReason != missions.CloseReasonParked || parent.SideFork != fork.Name || parent.PID != 0 {
		t.Errorf("the parent is %+v", parent)
	}
	if fork.State != missions.StateIdle || fork.SideForkOf != "live" || fork.Managed != missions.ManagedKeeper || fork.Workspace == parent.Workspace {
		t.Errorf("the fork is %+v", fork)
	}
	for name, typed := range map[string]string{fork.Name: "is a side fork itself, of live", "live": "is parked for its side fork"} {
		_, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: k.caller(), Moment: name})
		if e := missions.AsError(err); err == nil || e.Kind != missions.KindBusy || !strings.Contains(e.Message, typed) || !strings.Contains(e.Hint, "umbra fork exit") {
			t.Errorf("nested in %s: %v", name, err)
		}
	}
	session := k.missionNamed("live").SessionID
	done := k.keeps()
	left, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: fork.Name})
	if err != nil || left.ParentName != "live" {
		t.Fatalf("%+v, %v", left, err)
	}
	next := <-done
	if next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id || !slices.Contains(next.Launch.Argv, session) || !strings.Contains(next.Banner, "back in live; "+fork.Name+" is kept") {
		t.Errorf("next: %+v", next)
	}
	parent, fork = k.missionNamed("live"), k.missionNamed(fork.Name)
	if parent.State != missions.StateIdle || parent.SideFork != "" || parent.SessionID != session || k.read("a.txt") != "two\n" {
		t.Errorf("the parent is %+v, a.txt %q", parent, k.read("a.txt"))
	}
	if fork.State != missions.StateClosed || fork.CloseReason != missions.CloseReasonDiscarded || fork.SideForkOf != "" || fork.PID != 0 {
		t.Errorf("the fork is %+v", fork)
	}
	k.enter("once more")
	k.healthy()
}

// TestSideForkEnds: the parent has its terminal again when the fork's agent ends by itself,
// but not where the keeper itself is to end, or the parent was launched elsewhere.
func TestSideForkEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leaving, resumed bool
		do               string
		reason           missions.CloseReason
	}{
		"by itself":       {do: missions.DoRelaunch, reason: missions.CloseReasonDiscarded},
		"with the keeper": {leaving: true, do: missions.DoExit, reason: missions.CloseReasonExit},
		"after its claim": {resumed: true, do: missions.DoExit, reason: missions.CloseReasonExit},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeptAgent(t)
			r := k.enter("")
			if c.resumed {
				if _, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: k.id, Resume: true}); err != nil {
					t.Fatal(err)
				}
			}
			_ = k.agent.Process.Kill()
			<-k.ended
			report := missions.KeepRequest{
				Caller: k.keeper(), Mission: r.Fork, Launch: k.launch.ID, KeeperPID: os.Getpid(), Ended: true, ExitCode: 137, Leaving: c.leaving,
			}
			for range 2 { // the first answer may be cut off
				next, err := k.local.Keep(context.Background(), report)
				if err != nil || next.Do != c.do || next.Do == missions.DoRelaunch && next.Launch.Mission.ID != k.id {
					t.Errorf("next: %+v, %v", next, err)
				}
			}
			if fork := k.missionNamed(r.ForkName); fork.State != missions.StateClosed || fork.CloseReason != c.reason {
				t.Errorf("the fork is %s, %s", fork.State, fork.CloseReason)
			}
			k.healthy()
		})
	}
}

// TestSideForkFromWithin: what the agent asks for in its turn happens when that ends.
func TestSideForkFromWithin(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	own := k.caller()
	own.Mission = k.id
	k.hook("UserPromptSubmit", map[string]any{"prompt": "fork yourself"})
	plan, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: own, Preview: true})
	if err != nil || !plan.Queued || !plan.Preview || k.missionNamed("live").PendingAction != "" {
		t.Errorf("planned: %+v, %v", plan, err)
	}
	r, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: own})
	if err != nil || !r.Queued || k.missionNamed("live").PendingAction != "fork enter" {
		t.Fatalf("%+v, %v, pending %q", r, err, k.missionNamed("live").PendingAction)
	}
	done := k.keeps()
	k.hook("Stop", nil)
	next := <-done
	if next.Do != missions.DoRelaunch || next.Launch.Mission.ID == k.id {
		t.Fatalf("next: %+v", next)
	}
	own.Mission = next.Launch.Mission.ID
	done = k.keeps()
	if r, err := k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: own}); err != nil || !r.Begun {
		t.Errorf("between turns: %+v, %v", r, err)
	}
	if next := <-done; next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id {
		t.Errorf("next: %+v", next)
	}
	k.healthy()
}

// TestSideForkBesideItsParent: an agent without a terminal of Umbra's stays as it is, and its
// side fork is only made: it needs a terminal of its own.
func TestSideForkBesideItsParent(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.change(func(m *projects.Mission) { m.Live.Keeper = &deadOwner })
	r, err := k.local.EnterFork(context.Background(), missions.EnterForkRequest{Caller: k.caller(), Moment: "live"})
	if err != nil || !r.Beside || r.Fork == "" {
		t.Fatalf("without a keeper: %+v, %v", r, err)
	}
	if parent := k.missionNamed("live"); parent.State != missions.StateIdle || parent.SideFork != "" {
		t.Errorf("the parent is %+v", parent)
	}
	_, err = k.local.LeaveFork(context.Background(), missions.LeaveForkRequest{Caller: k.caller(), Fork: "live"})
	if e := missions.AsError(err); e.Kind != missions.KindNotFound {
		t.Errorf("left: %v", err)
	}
	resume := missions.LaunchRequest{Caller: k.keeper(), Mission: r.Fork, KeeperPID: os.Getpid(), Resume: true}
	for i, want := range []bool{true, false} { // once its first terminal has ended it is a mission like any other
		if _, err := k.local.Launch(context.Background(), resume); err != nil {
			t.Fatal(err)
		}
		if fork := k.missionNamed(r.ForkName); fork.Beside != want {
			t.Errorf("launch %d: beside is %t", i+1, fork.Beside)
		}
		m, err := k.local.MissionByID(r.Fork)
		if err != nil {
			t.Fatal(err)
		}
		m.Live.Keeper = &deadOwner
		k.local.SaveLiveState(m)
	}
	k.healthy()
}

// TestSideForkCutOff: whoever passes the terminal on may die at any instant. Whoever serves
// next, or the keeper, which asks when its agent has ended, has the rest done.
func TestSideForkCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ leaving, told, ended bool }{
		"entering, begun":   {},
		"entering, told":    {told: true},
		"entering, ended":   {told: true, ended: true},
		"leaving, begun":    {leaving: true},
		"leaving, told":     {leaving: true, told: true},
		"leaving, ended":    {leaving: true, told: true, ended: true},
		"leaving, not told": {leaving: true, ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeptAgent(t)
			at, next := k.id, ""
			a := projects.Action{Enter: &missions.EnterForkRequest{Caller: k.caller(), Mission: k.id}}
			if c.leaving {
				at, next = k.enter("").Fork, k.id
				a = projects.Action{Leave: &missions.LeaveForkRequest{Caller: k.caller(), Fork: at, Parent: k.id}}
			}
			m, err := k.local.MissionByID(at)
			if err != nil {
				t.Fatal(err)
			}
			err = k.local.WithWorkspaceLock(context.Background(), m, func(m *projects.Mission) error {
				m.Live.Handover = &projects.Handover{ID: k.local.NewID(), LaunchID: k.launch.ID, Action: a, Owner: deadOwner, ToldToEnd: c.told}
				k.local.SaveLiveState(m)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if c.ended {
				_ = k.agent.Process.Kill()
			}
			done := k.keeps()
			if err := k.local.ResumeHandovers(context.Background()); err != nil {
				t.Fatal(err)
			}
			told := <-done
			if told.Do != missions.DoRelaunch || told.Launch.Mission.ID == at || next != "" && told.Launch.Mission.ID != next {
				t.Fatalf("next: %+v", told)
			}
			if list, err := k.local.Missions(context.Background(), missions.MissionsRequest{Caller: k.caller()}); err != nil || len(list) != 2 {
				t.Errorf("the missions are %+v, %v", list, err)
			}
			k.healthy()
		})
	}
}

// TestSideForkPromoted: what a side fork did is its parent's when that has its terminal again.
func TestSideForkPromoted(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	r := k.enter("")
	fork := k.missionNamed(r.ForkName)
	k.write("mine.txt", "of the parent\n")
	if err := os.WriteFile(filepath.Join(fork.Workspace, "a.txt"), []byte("of the fork\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	done := k.keeps()
	p, err := k.local.Promote(context.Background(), missions.PromoteRequest{Caller: k.caller(), Fork: fork.Name})
	if err != nil || !p.Done || p.Snapshot == "" || p.Handover == nil {
		t.Errorf("promoted: %+v, %v", p, err)
	}
	if next := <-done; next.Do != missions.DoRelaunch || next.Launch.Mission.ID != k.id || !strings.Contains(next.Banner, "back in live, which has what "+fork.Name+" did") {
		t.Errorf("next: %+v", next)
	}
	if k.read("a.txt") != "of the fork\n" || k.read("mine.txt") != "of the parent\n" {
		t.Errorf("a.txt is %q, mine.txt %q", k.read("a.txt"), k.read("mine.txt"))
	}
	if fork = k.missionNamed(fork.Name); fork.CloseReason != missions.CloseReasonPromoted {
		t.Errorf("the fork is %s, %s", fork.State, fork.CloseReason)
	}
	k.healthy()
}

// TestSideForkPreviewed: a promotion that waits for the end of the fork's turn is not said to
// be refused for that turn.
func TestSideForkPreviewed(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	fork := k.missionNamed(k.enter("").ForkName)
	inFork := *k.talker
	inFork.session, inFork.mission = fork.SessionID, fork.ID
	inFork.hook("UserPromptSubmit", map[string]any{"prompt": "promote yourself", "cwd": fork.Workspace})
	promote := missions.PromoteRequest{Caller: k.caller(), Fork: fork.Name, Preview: true}
	p, err := k.local.Promote(context.Background(), promote)
	if err != nil || len(p.Refused) > 0 || p.Done || p.Handover == nil || p.Handover.How != "relaunched" {
		t.Errorf("planned: %+v, %v", p, err)
	}
	promote.Preview = false
	if p, err := k.local.Promote(context.Background(), promote); err != nil || !p.Queued {
		t.Errorf("promoted: %+v, %v", p, err)
	}
}

// TestSideForkPromotionRefused: where both sides changed the same lines, the user is asked
// while the fork's agent still has the terminal.
func TestSideForkPromotionRefused(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	fork := k.missionNamed(k.enter("").ForkName)
	k.write("a.txt", "of the parent\n")
	if err := os.WriteFile(filepath.Join(fork.Workspace, "a.txt"), []byte("of the fork\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	promote := missions.PromoteRequest{Caller: k.caller(), Fork: fork.Name}
	_, err := k.local.Promote(context.Background(), promote)
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindConflict || len(e.Details) == 0 || !strings.Contains(e.Message, "a.txt (") {
		t.Fatalf("promoted: %v", err)
	}
	if now := k.missionNamed(fork.Name); now.State != missions.StateIdle || now.SideForkOf != "live" {
		t.Errorf("the fork is %+v", now)
	}
	done := k.keeps()
	promote.All = true
	if p, err := k.local.Promote(context.Background(), promote); err != nil || !p.Done || k.read("a.txt") != "of the fork\n" {
		t.Errorf("promoted: %+v, %v, a.txt is %q", p, err, k.read("a.txt"))
	}
	<-done
	k.healthy()
}

// TestSideForkPromotedCommits: whether the parent's branch has moved to the fork's commits is
// said as it is.
func TestSideForkPromotedCommits(t *testing.T) {
	t.Parallel()
	for name, moved := range map[string]bool{"moved": true, "was not moved": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeptAgent(t)
			k.git("init", "-q", "-b", "main")
			k.git("add", ".")
			k.git("commit", "-q", "-m", "first")
			first := k.commit("HEAD")
			inFork := *k.testBench
			inFork.dir = k.missionNamed(k.enter("").ForkName).Workspace
			inFork.write("a.txt", "of the fork\n")
			inFork.git("commit", "-q", "-a", "-m", "of the fork")
			prepare := k.local.PrepareTerminal
			k.local.PrepareTerminal = func(ctx context.Context, m *projects.Mission, a projects.Action) (projects.Action, error) {
				a, err := prepare(ctx, m, a)
				if !moved {
					k.git("update-ref", "HEAD", first)
				}
				return a, err
			}
			done := k.keeps()
			p, err := k.local.Promote(context.Background(), missions.PromoteRequest{Caller: k.caller(), Fork: "live-fork-1", Commits: true})
			<-done
			says := slices.Contains(p.Notes, "main is not moved to the commits of live-fork-1 by that: the same command does it afterwards")
			if err != nil || !p.Done || (p.MovedBranch == "main") != moved || says == moved || (k.commit("main") == inFork.commit("HEAD")) != moved {
				t.Errorf("promoted: %+v, %v", p, err)
			}
			k.healthy()
		})
	}
}
