package local

import (
	"context"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestHandoverWithoutTerminal: an agent that answers one prompt without a terminal is
// ended by a restore for good. Launched again it would be one for a terminal.
func TestHandoverWithoutTerminal(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	_ = k.agent.Process.Kill()
	k.end()
	launch, err := k.local.Launch(context.Background(), missions.LaunchRequest{
		Caller: k.keeper(), Mission: k.id, KeeperPID: os.Getpid(), Resume: true, Headless: true, Prompt: "answer this",
	})
	if err != nil {
		t.Fatal(err)
	}
	k.begin(launch)
	k.hook("SessionStart", map[string]any{"source": "resume"})
	k.takeTurn("answer this", "a.txt", "three\n")
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
