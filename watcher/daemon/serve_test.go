package daemon

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/servicetest"
)

// TestServes takes snapshots through the socket and reads them back.
func TestServes(t *testing.T) {
	b := newBench(t)
	b.start()
	c := b.connect()
	b.write("a.txt", "one\n")
	m := b.mission(c, "work")
	b.write("a.txt", "two\n")
	e, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller(), Message: "second"})
	must(t, err)
	if e.Mission != m.ID || e.Message == "" {
		t.Errorf("entry %+v", e)
	}
	got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work~1", Path: "a.txt"})
	must(t, err)
	if string(got) != "one\n" {
		t.Errorf("as it was: %q", got)
	}
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	if d := status.Daemon; d == nil || !d.Running || d.Version != "test" || d.Socket == "" || d.MemoryBytes == 0 {
		t.Errorf("daemon: %+v", status.Daemon)
	}
}

// TestContract holds the Service over the socket to its contract.
func TestContract(t *testing.T) {
	servicetest.Run(t, func(t testing.TB, home home.Home) missions.Service {
		b := &bench{TB: t, home: home}
		b.start()
		return b.connect()
	})
}
