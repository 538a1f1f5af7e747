package missions

import (
	"context"
	"os"
	"slices"
	"testing"
)

// TestOrphanedAgent: where a keeper was killed and its agent lives, nobody sees the
// agent's terminal, so that there is nothing to type in it.
func TestOrphanedAgent(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	k.change(func(m *loaded) { m.live.Keeper = &deadOwner })
	if r := k.restore("live@1", func(r *RestoreRequest) { r.Preview = true }); r.Handover == nil || r.Handover.How != "resume" {
		t.Errorf("the plan says %+v", r.Handover)
	}
	r := k.restore("live@1")
	if r.Handover == nil || r.Handover.How != "resume" || r.Handover.Type != "umbra mission stop live && umbra mission resume live" {
		t.Errorf("restored: %+v", r.Handover)
	}
	if _, err := k.local.Stop(context.Background(), StopRequest{Caller: k.caller(), Missions: []string{"live"}}); err != nil {
		t.Fatal(err)
	}
	launch, err := k.local.Launch(context.Background(), LaunchRequest{Caller: k.caller(), Mission: "live", KeeperID: os.Getpid(), Resume: true})
	if err != nil || !slices.Contains(launch.Argv, r.SessionID) {
		t.Errorf("resume: %+v %v", launch, err)
	}
	k.healthy()
}
