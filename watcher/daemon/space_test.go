package daemon

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
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
	for name, m := range missions.Methods() {
		if !m.Is(missions.Grows) { // nor is an event of an agent, which waits for its answer: see TestFullDisk
			continue
		}
		request, result := m.New()
		if err := m.Call(b.ctx(), s.Service(), request, result); err == nil || !strings.Contains(err.Error(), "only 50 MiB are free") {
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

// TestSnapshotsWhenThereIsRoom: what could not be taken for want of room is taken when
// there is some, though nobody asks for it again.
func TestSnapshotsWhenThereIsRoom(t *testing.T) {
	for _, end := range []string{"Stop", "SessionEnd", ""} {
		t.Run("after "+end, func(t *testing.T) {
			b := newBench(t)
			var free atomic.Uint64
			free.Store(1 << 40)
			s := b.start(func(o *Options) {
				o.FreeSpace = func(string) (uint64, error) { return free.Load(), nil }
			})
			c := b.connect()
			hook := func(event string) missions.HookResult {
				t.Helper()
				r, err := b.hook(c, event, map[string]any{"source": "startup", "prompt": "go", "prompt_id": "p1", "reason": "prompt_input_exit"})
				must(t, err)
				return r
			}
			b.write("a.txt", "one\n")
			m := missions.Mission{ID: hook("SessionStart").Mission}
			hook("UserPromptSubmit")
			b.until("watched", func() bool { return b.watched(s) })
			if end == "" {
				hook("Stop")
			}
			resting := func() bool { return !s.watch.tree(b.work).Busy() }
			b.until("rest", resting)
			free.Store(10 << 20)
			// What began while there was room may still be taken.
			b.until("nothing under way", func() bool { return s.house.calls.Load() == 0 })
			before := b.state(c, m)
			b.write("a.txt", "two\n")
			must(t, s.watch.tree(b.work).Barrier(b.ctx())) // it stirs
			if end != "" {
				if r := hook(end); !strings.Contains(r.Problem, "only 10 MiB are free") {
					t.Fatalf("without room: %+v", r)
				}
			}
			b.until("rest without room", func() bool { return s.watch.tree(b.work) == nil || resting() })
			if now := b.state(c, m); now.Head != before.Head {
				t.Fatalf("%s was taken without room", now.Head)
			}
			free.Store(1 << 40)
			b.until("the snapshot", func() bool { return b.state(c, m).Head != before.Head })
			got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: m.ID, Path: "a.txt"})
			if err != nil || string(got) != "two\n" {
				t.Errorf("it holds %q, %v", got, err)
			}
			b.until("no problem", func() bool { now := b.state(c, m); return len(now.Problems) == 0 && now.State != missions.StateRunning })
			b.until("nothing is owed", func() bool { owes, _ := s.local.HasOwedSnapshots(); return !owes })
		})
	}
}
