package local

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestOrphanedAgent: where a keeper was killed and its agent lives, nobody sees the
// agent's terminal, so that there is nothing to type in it.
func TestOrphanedAgent(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.change(func(m *projects.Mission) { m.Live.Keeper = &deadOwner })
	if r := k.restore("live@1", func(r *missions.RestoreRequest) { r.Preview = true }); r.Handover == nil || r.Handover.How != "resume" {
		t.Errorf("the plan says %+v", r.Handover)
	}
	r := k.restore("live@1")
	if r.Handover == nil || r.Handover.How != "resume" || r.Handover.Type != "umbra mission stop live && umbra mission resume live" {
		t.Errorf("restored: %+v", r.Handover)
	}
	if _, err := k.local.Stop(context.Background(), missions.StopRequest{Caller: k.caller(), Missions: []string{"live"}}); err != nil {
		t.Fatal(err)
	}
	launch, err := k.local.Launch(context.Background(), missions.LaunchRequest{Caller: k.caller(), Mission: "live", KeeperPID: os.Getpid(), Resume: true})
	if err != nil || !slices.Contains(launch.Argv, r.SessionID) {
		t.Errorf("resume: %+v %v", launch, err)
	}
	k.healthy()
}
