package daemon

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

func TestLowDiskRefusesWrites(t *testing.T) {
	b := newBench(t)
	var free atomic.Uint64
	free.Store(1 << 40)
	s := b.start(func(o *Options) {
		o.FreeSpace = func(string) (uint64, error) { return free.Load(), nil }
	})
	c := b.connect()
	b.write("a.txt", "one\n")
	b.mission(c, "work")
	free.Store(50 << 20)
	_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
	if e := missions.AsError(err); err == nil || !strings.Contains(e.Message, "only 50 MiB are free") || e.Hint == "" {
		t.Errorf("error %v", err)
	}
	for name, m := range table() {
		if !m.grows || name == api.Hook { // an agent waits for its answer: see TestFullDisk
			continue
		}
		if _, err := m.call(b.ctx(), s.Service(), []byte("{}")); err == nil || !strings.Contains(err.Error(), "only 50 MiB are free") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller()}); err != nil || len(entries) != 1 {
		t.Errorf("reading: %v %v", entries, err)
	}
	b.write("a.txt", "two\n")
	if d, err := c.Diff(b.ctx(), missions.DiffRequest{Caller: b.caller(), From: "work"}); err != nil || len(d.Files) != 1 {
		t.Errorf("diff: %+v %v", d, err)
	}
	if r, err := c.Restore(b.ctx(), missions.RestoreRequest{Caller: b.caller(), Moment: "work", Preview: true}); err != nil || len(r.Modify) != 1 {
		t.Errorf("preview: %+v %v", r, err)
	}
	status, err := c.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	if err != nil || len(status.Problems) != 1 {
		t.Errorf("status: %+v %v", status.Problems, err)
	}
	free.Store(1 << 40)
	_, err = c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
	must(t, err)
}
