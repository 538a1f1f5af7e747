package local

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestHandoverWithoutTerminal: an agent that answers one prompt without a terminal is
// ended by a restore for good. Launched again it would be one for a terminal.
func TestHandoverWithoutTerminal(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.loseTerminal()
	plan, err := k.local.Restore(context.Background(), missions.RestoreRequest{Caller: k.caller(), Moment: "live@1", Preview: true})
	if err != nil || plan.Handover == nil || plan.Handover.How != "resume" {
		t.Errorf("the plan is %+v, %v", plan.Handover, err)
	}
	done := k.keeps()
	r := k.restore("live@1")
	if h := r.Handover; !r.Done || h == nil || h.How != "resume" || h.Type != "umbra mission resume live" {
		t.Errorf("restored: %+v", r)
	}
	if next := <-done; next.Do != missions.DoExit || next.Launch != nil {
		t.Errorf("next: %+v", next)
	}
	if m := k.state(); missions.HasAgent(m.Lifecycle) || m.Live.HasKeeper() || m.Live.Handover != nil {
		t.Errorf("afterwards the mission is %s, %+v", missions.StateOf(m.Lifecycle), m.Live)
	}
	if got := k.read("a.txt"); got != "one\n" {
		t.Errorf("a.txt is %q", got)
	}
	k.healthy()
}

// loseTerminal ends the agent, and has it answer a prompt without a terminal.
func (k *keptAgent) loseTerminal() {
	k.Helper()
	_ = k.agent.Process.Kill()
	k.end()
	launch, err := k.local.Launch(context.Background(), missions.LaunchRequest{
		Caller: k.keeper(), Mission: k.id, KeeperPID: os.Getpid(), Resume: true, Headless: true, Prompt: "answer this",
	})
	if err != nil {
		k.Fatal(err)
	}
	k.begin(launch)
	k.hook("SessionStart", map[string]any{"source": "resume"})
	k.takeTurn("answer this", "a.txt", "three\n")
}

// TestFailedHandoverWithoutTerminal: no terminal shows why an agent was ended in vain. The
// agent hears that it is not launched again, and the mission says why, also after a launch.
func TestFailedHandoverWithoutTerminal(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.loseTerminal()
	a := k.restoreOf("live@1")
	a.Restore.Caller.Mission = k.id // the agent has typed it
	h := k.begins(a, false)
	if r := k.hook("UserPromptSubmit", map[string]any{"prompt": "more", "prompt_id": "p9"}); !strings.Contains(string(r.Output), "does not launch it again without a terminal: umbra mission resume live") {
		t.Errorf("a prompt is answered with %s", r.Output)
	}
	_ = k.agent.Process.Kill()
	k.write("mine.txt", "the user's\n")
	_, err := k.local.CompleteHandover(context.Background(), k.state(), h.ID)
	k.fails("a restore over work of the user", err, missions.KindConflict)
	if next := k.end(); next.Do != missions.DoExit {
		t.Errorf("next: %+v", next)
	}
	if _, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.keeper(), Mission: k.id, KeeperPID: os.Getpid(), Resume: true}); err != nil {
		t.Fatal(err)
	}
	said := k.state().Live.NotRestoredReason
	if !strings.Contains(said, "was not done: ") || !strings.Contains(said, "the agent was ended for it") || strings.Contains(said, "queued") {
		t.Errorf("it is said that %q", said)
	}
}
