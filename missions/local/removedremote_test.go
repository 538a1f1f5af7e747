package local

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// removeRemote forgets the remote of the scene.
func (c *remoteScene) removeRemote(b *testBench) {
	c.Helper()
	if _, err := b.local.RemoveRemote(context.Background(), missions.RemoteRequest{Caller: b.caller(), Name: "office"}); err != nil {
		c.Fatal(err)
	}
}

// TestPrunedBehindARemovedRemote: nothing is kept for a remote that was removed. If it is added
// again, what was pruned meanwhile does not come back as a mission of somebody else.
func TestPrunedBehindARemovedRemote(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	m := c.testBench.mission("work")
	c.numbered(1, 3)
	c.push()
	c.removeRemote(c.testBench)
	c.numbered(10, 3)
	if r := c.pruned(1); r.Pruned() != 5 || r.Missions[0].Why["unpushed"] > 0 {
		t.Errorf("kept for no remote: %+v", r)
	}
	c.fscked(m)
	c.addRemote(c.testBench, "office")
	if r := c.fetch(); len(r.Missions) > 0 {
		t.Errorf("its own mission was fetched: %+v", r)
	}
	r := c.push()
	c.wants(r, "work", missions.TransferDiverged)
	if len(r.Missions) == 0 || !strings.Contains(r.Missions[0].Reason, "pruned here") {
		t.Errorf("%+v", r)
	}
	c.fscked(m)
}

// TestLostBehindARemovedRemote: what was lost otherwise, and not pruned, is brought.
func TestLostBehindARemovedRemote(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	m := c.testBench.mission("work")
	pushed := c.numbered(1, 3)
	c.push()
	c.removeRemote(c.testBench)
	c.loseObject(m, pushed[2])
	c.testBench = c.again()
	if said := c.testBench.said(missions.DoctorRequest{Fix: true}); said == "" {
		t.Error("nothing was mended")
	}
	c.numbered(10, 1)
	c.addRemote(c.testBench, "office")
	c.fetch()
	if got := c.testBench.line("office/work"); len(got) != 4 || got[0] != pushed[2] {
		t.Errorf("fetched: %v", got)
	}
	c.fscked(m)
}
