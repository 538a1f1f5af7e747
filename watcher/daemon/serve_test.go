package daemon

import (
	"os"
	"path/filepath"
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

// TestNamesThatAreNoText: a file can be asked for, and is put back, by a name that is no
// UTF-8.
func TestNamesThatAreNoText(t *testing.T) {
	b := newBench(t)
	name := "caf\xe9"
	if err := os.WriteFile(filepath.Join(b.work, name), []byte("one"), 0o644); err != nil {
		t.Skip("no such names here: ", err)
	}
	b.start()
	c := b.connect()
	b.mission(c, "work")
	b.write(name, "two")
	_, err := c.Restore(b.ctx(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start", FilesOnly: true, Paths: []string{name}})
	must(t, err)
	if now, err := os.ReadFile(filepath.Join(b.work, name)); err != nil || string(now) != "one" {
		t.Errorf("restored: %q %v", now, err)
	}
	if was, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work@start", Path: name}); err != nil || string(was) != "one" {
		t.Errorf("shown: %q %v", was, err)
	}
}
