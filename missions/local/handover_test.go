package local

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// keptAgent is a mission of Claude Code under a keeper, which is this process,
// two turns long. Its agent is a process that does nothing.
type keptAgent struct {
	*talker
	id     string
	launch missions.Launch
	agent  *exec.Cmd
	ended  chan struct{}
	path   string // has the agent's program
}

func (k *keptAgent) keeper() missions.Caller {
	c := k.caller()
	c.Binary = "/usr/bin/umbra"
	c.Env["PATH"] = k.path
	return c
}

func newKeptAgent(t *testing.T) *keptAgent {
	t.Helper()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	m, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: "live", Command: []string{"claude", "--model", "opus", "the first prompt"}})
	if err != nil {
		t.Fatal(err)
	}
	k := &keptAgent{talker: newTalker(b), id: m.ID, path: t.TempDir()}
	if err := os.WriteFile(filepath.Join(k.path, "claude"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	k.mission = m.ID
	launch, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: m.ID, KeeperPID: os.Getpid()})
	if err != nil {
		t.Fatal(err)
	}
	k.begin(launch)
	k.session = launch.Mission.SessionID
	k.transcript = launch.Mission.SessionPath
	k.hook("SessionStart", map[string]any{"source": "startup"})
	k.takeTurn("first", "a.txt", "one\n")
	k.takeTurn("second", "a.txt", "two\n")
	return k
}

// begin starts an agent as a launch says, and reports it.
func (k *keptAgent) begin(launch missions.Launch) {
	k.Helper()
	agent, ended := exec.Command("sleep", "6000"), make(chan struct{})
	if err := agent.Start(); err != nil {
		k.Fatal(err)
	}
	go func() {
		_ = agent.Wait()
		close(ended)
	}()
	k.Cleanup(func() {
		_ = agent.Process.Kill()
		<-ended
	})
	k.launch, k.agent, k.ended = launch, agent, ended
	k.started()
}

// started tells that the agent has started.
func (k *keptAgent) started() {
	k.Helper()
	_, err := k.local.Keep(context.Background(), missions.KeepRequest{Mission: k.launch.Mission.ID, Launch: k.launch.ID, KeeperPID: os.Getpid(), AgentPID: k.agent.Process.Pid})
	if err != nil {
		k.Fatal(err)
	}
}

// end reports the end of the agent and returns what is next.
func (k *keptAgent) end() missions.KeepResult {
	k.Helper()
	select {
	case <-k.ended:
	case <-time.After(patience.Of(time.Minute)):
		panic("the agent was not ended") // whichever goroutine waits for it
	}
	next, err := k.local.Keep(context.Background(), missions.KeepRequest{Caller: k.keeper(), Mission: k.launch.Mission.ID, Launch: k.launch.ID, KeeperPID: os.Getpid(), Ended: true, ExitCode: 143})
	if err != nil {
		k.Fatal(err)
	}
	return next
}

// keeps is a keeper that launches the agent again once it has ended.
func (k *keptAgent) keeps() (done chan missions.KeepResult) {
	done = make(chan missions.KeepResult, 1)
	go func() {
		next := k.end()
		if next.Do == missions.DoRelaunch {
			k.begin(*next.Launch)
		}
		done <- next
	}()
	return done
}

func (k *keptAgent) state() *projects.Mission {
	k.Helper()
	m, err := k.local.MissionByID(k.id)
	if err != nil {
		k.Fatal(err)
	}
	return m
}

// change changes the mission's live state as another process would.
func (k *keptAgent) change(fn func(*projects.Mission)) {
	k.Helper()
	err := k.local.WithWorkspaceLock(context.Background(), k.state(), func(m *projects.Mission) error {
		fn(m)
		k.local.SaveLiveState(m)
		return nil
	})
	if err != nil {
		k.Fatal(err)
	}
}

// restores counts the restores in the history.
func (k *keptAgent) restores() int {
	n := 0
	for _, m := range k.messages("live") {
		if strings.HasPrefix(m, "restore ") {
			n++
		}
	}
	return n
}

var deadOwner = lock.Owner{PID: 1 << 30, Start: 1, Boot: "another", Command: "umbra restore"}

// mark leaves a handover as a process that died has left it: with the agent ended.
func (k *keptAgent) mark(a projects.Action, queued bool) *projects.Handover {
	k.Helper()
	h := &projects.Handover{ID: k.local.NewID(), LaunchID: k.launch.ID, Action: a, Queued: queued, Owner: deadOwner}
	k.change(func(m *projects.Mission) { m.Live.Handover = h })
	return h
}

// own makes a handover that was left one that this process is at.
func (k *keptAgent) own() {
	k.Helper()
	k.change(func(m *projects.Mission) {
		k.local.OwnHandover(m.Live.Handover)
		h := m.Live.Handover
		k.Cleanup(func() { k.local.ReleaseHandover(h) })
	})
}

func (k *keptAgent) restoreOf(moment string) projects.Action {
	k.Helper()
	at, err := k.local.FindMoment(context.Background(), k.caller(), moment, addresses.InAnyProject)
	if err != nil {
		k.Fatal(err)
	}
	return projects.Action{Restore: &missions.RestoreRequest{Caller: k.caller(), Moment: at.Snapshot.ID.String(), Mission: k.id}}
}

// relaunched holds what is next against what a handover to turn 1 leads to.
func (k *keptAgent) relaunched(next missions.KeepResult) {
	k.Helper()
	m := k.state()
	if next.Do != missions.DoRelaunch || next.Launch == nil || !strings.Contains(next.Banner, "restore to live@1; ") || strings.Contains(next.Banner, "\n") {
		k.Fatalf("next is %+v", next)
	}
	if got := k.read("a.txt"); got != "one\n" || m.Stored.Session == k.session || k.restores() != 1 {
		k.Errorf("a.txt is %q, the session %s as before %s, the history %q", got, m.Stored.Session, k.session, k.messages("live"))
	}
	want := []string{"--resume", m.Stored.Session, "--model", "opus"}
	argv := next.Launch.Argv
	for _, word := range want {
		if !slices.Contains(argv, word) {
			k.Errorf("the command is %q, which lacks %s", argv, word)
		}
	}
	if slices.Contains(argv, "the first prompt") || next.Launch.Dir != k.dir {
		k.Errorf("the launch is %+v", next.Launch)
	}
	k.begin(*next.Launch)
	if m := k.state(); missions.StateOf(m.Lifecycle) != missions.StateIdle || m.Live.Handover != nil || !presence.CanRelaunchAgent(m) {
		k.Errorf("afterwards the mission is %s, %+v", missions.StateOf(m.Lifecycle), m.Live)
	}
	k.healthy()
}

// TestHandoverByWhoAsks restores beneath a live agent, in this process.
func TestHandoverByWhoAsks(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	done := k.keeps()
	r := k.restore("live@1")
	if !r.Done || r.Handover == nil || r.Handover.How != "relaunched" || r.Handover.Type != "" {
		t.Errorf("restored: %+v", r)
	}
	next := <-done
	if next.Do != missions.DoRelaunch || !slices.Contains(next.Launch.Argv, r.SessionID) {
		t.Errorf("next: %+v", next)
	}
	// The session that was left says its end late, as a slow hook does.
	k.hook("SessionEnd", map[string]any{"reason": "other"})
	if m := k.state(); missions.StateOf(m.Lifecycle) != missions.StateIdle || m.Stored.Session != r.SessionID {
		t.Errorf("the end of the former session makes it %s, %s", missions.StateOf(m.Lifecycle), m.Stored.Session)
	}
	k.healthy()
}

// TestHandoverCutOff: whoever carries it out may die at any instant; the keeper,
// which asks when its agent has ended, has it done once, and asked twice too.
func TestHandoverCutOff(t *testing.T) {
	t.Parallel()
	cut := func(some func(*restores.RestoreWork) error) func(*keptAgent) {
		return func(k *keptAgent) { k.cutOff(k.id, "live@1", some) }
	}
	for name, leave := range map[string]func(*keptAgent){
		"begun":    func(*keptAgent) {},
		"applying": cut(applying),
		"applied":  cut(applied),
		"talked": func(k *keptAgent) {
			k.cutOff(k.id, "live@1", func(w *restores.RestoreWork) error {
				return errors.Join(applied(w), k.local.CompleteConversation(context.Background(), k.state(), w.Doc))
			})
		},
		"committed": func(k *keptAgent) {
			err := k.local.WithWorkspaceLock(context.Background(), k.state(), func(m *projects.Mission) error {
				_, err := k.local.PerformAction(context.Background(), m, m.Live.Handover.Action)
				return err
			})
			if err != nil {
				k.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeptAgent(t)
			k.mark(k.restoreOf("live@1"), false)
			leave(k)
			_ = k.agent.Process.Kill()
			first := k.end()
			again := k.end() // the first answer was cut off
			if first.Do != missions.DoRelaunch || first.Banner != again.Banner {
				t.Errorf("first %+v, again %+v", first, again)
			}
			k.relaunched(again)
		})
	}
}

// TestHandoverCutOffAsTheAgentEnds: what an agent says as it ends is no sign that it
// goes on, though its process lives until that is heard.
func TestHandoverCutOffAsTheAgentEnds(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.mark(k.restoreOf("live@1"), false)
	k.hook("SessionEnd", map[string]any{"reason": "other"})
	_ = k.agent.Process.Kill()
	k.relaunched(k.end())
}

// TestHandoverCutOffInATurn: what was begun by force in a turn is finished by the
// next daemon if the agent had been told to end, and given up if it had not.
func TestHandoverCutOffInATurn(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{false, true} {
		k := newKeptAgent(t)
		k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
		a := k.restoreOf("live@1")
		a.Restore.Force = true
		k.mark(a, false)
		k.change(func(m *projects.Mission) { m.Live.Handover.ToldToEnd = told })
		if err := k.local.Recover(context.Background()); err != nil {
			t.Fatal(err)
		}
		if !told {
			if m := k.state(); m.Live.Handover != nil || k.restores() != 0 {
				t.Errorf("not told: %+v", m.Live.Handover)
			}
			continue
		}
		k.relaunched(k.end())
	}
}

// TestHandoverOfManyStepsCutOff does the rest of an undo of several steps.
func TestHandoverOfManyStepsCutOff(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	child := k.state().Live.KeeperChild
	k.change(func(m *projects.Mission) { m.Live.KeeperChild = nil }) // as if nobody could launch it again
	k.restore("live@1")
	k.write("b.txt", "between\n")
	k.restore("live@start", func(r *missions.RestoreRequest) { r.All = true })
	k.change(func(m *projects.Mission) { m.Live.KeeperChild = child })
	if !presence.CanRelaunchAgent(k.state()) {
		t.Fatal("the agent was ended")
	}
	k.mark(projects.Action{Undo: &missions.UndoRequest{Caller: k.caller(), Mission: k.id, Steps: 2}}, false)
	err := k.local.WithWorkspaceLock(context.Background(), k.state(), func(m *projects.Mission) error {
		_, err := k.local.PerformAction(context.Background(), m, projects.Action{Undo: &missions.UndoRequest{Caller: k.caller(), Mission: k.id, Steps: 1}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	k.write("c.txt", "written after the first step\n")
	_ = k.agent.Process.Kill()
	next := k.end()
	if m := k.state(); next.Do != missions.DoRelaunch || m.Stored.Session != k.session || k.read("a.txt") != "two\n" {
		t.Errorf("next %+v, session %s of %s, a.txt %q", next, m.Stored.Session, k.session, k.read("a.txt"))
	}
	k.healthy()
}

// TestHandoverNeverBegun: where the process died before the agent was told to end,
// the agent goes on, and what had waited for the end of a turn waits again; the
// next process that serves does what was asked for.
func TestHandoverNeverBegun(t *testing.T) {
	t.Parallel()
	for _, queued := range []bool{false, true} {
		k := newKeptAgent(t)
		k.mark(k.restoreOf("live@1"), queued)
		k.takeTurn("third", "a.txt", "three\n")
		if queued {
			<-k.ended // at the end of the turn
			k.relaunched(k.end())
			continue
		}
		if m := k.state(); m.Live.Handover != nil || m.Live.QueuedRestore != nil || k.read("a.txt") != "three\n" || k.restores() != 0 {
			t.Errorf("the mission is %+v, a.txt %q", m.Live, k.read("a.txt"))
		}
		k.healthy()
	}
	for _, queued := range []bool{false, true} {
		k := newKeptAgent(t)
		k.mark(k.restoreOf("live@1"), queued)
		if err := k.local.Recover(context.Background()); err != nil { // as the next daemon does
			t.Fatal(err)
		}
		k.relaunched(k.end())
	}
	t.Run("queued and never begun", func(t *testing.T) {
		k := newKeptAgent(t)
		a := k.restoreOf("live@1")
		k.change(func(m *projects.Mission) { m.Live.QueuedRestore = &a })
		if err := k.local.Recover(context.Background()); err != nil {
			t.Fatal(err)
		}
		k.relaunched(k.end())
	})
}

// TestHandoverThatFails launches the agent again on the session it had.
func TestHandoverThatFails(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.local.RestoreStep = func(string) error { return errors.New("the disk is broken") }
	done := k.keeps()
	_, err := k.local.Restore(context.Background(), missions.RestoreRequest{Caller: k.caller(), Moment: "live@1"})
	k.fails("restore", err, missions.KindFailed)
	next := <-done
	if next.Do != missions.DoRelaunch || !slices.Contains(next.Launch.Argv, k.session) || !strings.Contains(next.Banner, "was not done") || !strings.Contains(next.Banner, "the disk is broken") {
		t.Errorf("next: %+v", next)
	}
	if m := k.state(); missions.StateOf(m.Lifecycle) != missions.StateIdle || m.Live.Handover != nil || k.read("a.txt") != "two\n" {
		t.Errorf("the mission is %s %+v, a.txt %q", missions.StateOf(m.Lifecycle), m.Live, k.read("a.txt"))
	}
	k.local.RestoreStep = nil
	k.healthy()
}

// TestHandoverWithoutAWorkspace launches nobody where the workspace is gone: the
// keeper is not left waiting, and the mission is closed.
func TestHandoverWithoutAWorkspace(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	h := k.mark(k.restoreOf("live@1"), false)
	k.own()
	if err := os.Rename(k.dir, k.dir+"-away"); err != nil {
		t.Fatal(err)
	}
	_ = k.agent.Process.Kill()
	_, err := k.local.CompleteHandover(context.Background(), k.state(), h.ID)
	k.fails("restore", err, missions.KindFailed)
	why := "the workspace of mission live, " + k.dir + ", is in " + k.dir + "-away now"
	if m := k.state(); !m.Live.Handover.Done || !strings.Contains(m.Live.Handover.Banner, "was not done: "+why) {
		t.Errorf("the handover is %+v", m.Live.Handover)
	}
	next := k.end()
	for _, said := range []string{"umbra: restore ", " was not done: " + why, "live could not be launched again: " + why, "\n  umbra mission resume live"} {
		if next.Do != missions.DoExit || !strings.Contains(next.Banner, said) {
			t.Errorf("next %+v, does not say %q", next, said)
		}
	}
	if m := k.state(); missions.StateOf(m.Lifecycle) != missions.StateClosed || m.Live.Handover != nil || m.LastError != why {
		t.Errorf("the mission is %s, %q", missions.StateOf(m.Lifecycle), m.LastError)
	}
	if err := os.Rename(k.dir+"-away", k.dir); err != nil {
		t.Fatal(err)
	}
	k.healthy()
}

// TestHandoverWithoutAKeeper: a keeper that dies meanwhile launches nobody, and
// the mission can be resumed.
func TestHandoverWithoutAKeeper(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	keeper := exec.Command("sleep", "6000")
	if err := keeper.Start(); err != nil {
		t.Fatal(err)
	}
	k.change(func(m *projects.Mission) { owner := lock.Process(keeper.Process.Pid, ""); m.Live.Keeper = &owner })
	gone := make(chan error, 1)
	go func() {
		<-k.ended
		_ = keeper.Process.Kill()
		gone <- keeper.Wait()
	}()
	r := k.restore("live@1")
	<-gone
	if !r.Done || r.Handover == nil || r.Handover.How != "resume" || r.Handover.Type != "umbra mission resume live" {
		t.Errorf("restored: %+v", r.Handover)
	}
	launch, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.caller(), Mission: "live", KeeperPID: os.Getpid(), Resume: true})
	if err != nil || !slices.Contains(launch.Argv, r.SessionID) {
		t.Fatalf("resume: %+v %v", launch, err)
	}
	k.begin(launch)
	if m := k.state(); m.Live.Handover != nil || !presence.CanRelaunchAgent(m) {
		t.Errorf("the mission is %+v", m.Live)
	}
	k.healthy()
}

// TestKeeperWaits is told to ask again where a handover takes its time.
func TestKeeperWaits(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.mark(k.restoreOf("live@1"), false)
	k.own()
	_ = k.agent.Process.Kill()
	now := time.Now()
	k.local.Clock = func() time.Time { now = now.Add(time.Second); return now }
	if next := k.end(); next.Do != missions.DoWait {
		t.Errorf("next is %+v", next)
	}
	if _, err := k.local.CompleteHandover(context.Background(), k.state(), k.state().Live.Handover.ID); err != nil {
		t.Fatal(err)
	}
	k.relaunched(k.end())
}

// TestEmptiedConversation is begun anew on a relaunch, without the first prompt.
func TestEmptiedConversation(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	done := k.keeps()
	r := k.restore("live@start")
	next := <-done
	if next.Do != missions.DoRelaunch || !slices.Contains(next.Launch.Argv, "--session-id") || !slices.Contains(next.Launch.Argv, r.SessionID) ||
		slices.Contains(next.Launch.Argv, "the first prompt") || slices.Contains(next.Launch.Argv, "--") {
		t.Errorf("next: %q", next.Launch.Argv)
	}
	if got := k.read("a.txt"); got != "zero\n" {
		t.Errorf("a.txt is %q", got)
	}
	k.healthy()
}
