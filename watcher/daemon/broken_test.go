package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/watcher/api"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// front is a bench whose socket is beside the Server's, for who stands before it.
func (b *bench) front() *bench {
	front := &bench{TB: b.TB, home: b.home, user: b.user, work: b.work}
	front.home.Machine = "front"
	return front
}

// cutting connects to a Server that cuts off its first so many answers, before or
// after it has done what was asked. It counts the calls.
func (b *bench) cutting(s *Server, cuts int32, after bool) (*client.Client, *atomic.Int32) {
	var calls atomic.Int32
	front := b.front()
	front.impostor(func(w http.ResponseWriter, r *http.Request) {
		if _, known := s.table[strings.TrimPrefix(r.URL.Path, api.Prefix)]; !known {
			s.serve(w, r)
			return
		}
		if calls.Add(1) > cuts {
			s.serve(w, r)
			return
		}
		if after {
			s.serve(&deaf{header: http.Header{}}, r)
		}
		cutAsRead(r)
	})
	return front.connect(), &calls
}

// cutAsRead cuts off a connection whose request was read, so that it may have been begun.
func cutAsRead(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	panic(http.ErrAbortHandler)
}

// cutUnread cuts off a connection whose request nobody has read.
func cutUnread(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.Close()
}

// deaf is an answer that nobody reads.
type deaf struct{ header http.Header }

func (d *deaf) Header() http.Header         { return d.header }
func (d *deaf) Write(p []byte) (int, error) { return len(p), nil }
func (d *deaf) WriteHeader(int)             {}

// TestCutOff cuts the answer of every kind of call: what does no harm twice is
// asked again, of the rest it is said what is not known and what shows it.
func TestCutOff(t *testing.T) {
	b := newBench(t)
	s := b.start()
	b.write("a.txt", "one\n")
	b.mission(s.Service(), "work")
	for _, after := range []bool{false, true} {
		c, calls := b.cutting(s, 1, after)
		entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller()})
		must(t, err)
		before := len(entries)
		if calls.Load() != 2 {
			t.Errorf("asked %d times", calls.Load())
		}
		calls.Store(0)
		b.write("a.txt", fmt.Sprint("changed ", after))
		e, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller(), Message: "mine"})
		must(t, err)
		entries, err = c.Log(b.ctx(), missions.LogRequest{Caller: b.caller()})
		must(t, err)
		if len(entries) != before+1 || entries[0].ID != e.ID || calls.Load() != 3 {
			t.Errorf("after %t: %d snapshots more, %d calls", after, len(entries)-before, calls.Load())
		}
	}
	c, _ := b.cutting(s, 1000, false)
	_, err := c.Restore(b.ctx(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start"})
	e := missions.AsError(err)
	if err == nil || e.Kind != missions.KindFailed || !strings.Contains(e.Message, "whether the restore was done: the connection was cut") || !strings.Contains(e.Hint, "umbra log --ops") {
		t.Errorf("restore: %v (%s)", err, e.Hint)
	}
	_, err = c.Hook(b.ctx(), missions.HookRequest{Caller: b.caller(), Agent: "claude"})
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindNoDaemon || !errors.Is(err, client.ErrBroken) {
		t.Errorf("hook: %v", err)
	}
}

// TestCutOffCallsAreExplained has words for each call that is not made twice.
func TestCutOffCallsAreExplained(t *testing.T) {
	b := newBench(t)
	b.impostor(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Prefix+api.MethodAbout {
			fmt.Fprintf(w, `{"result":{"protocol":%d}}`+"\n", api.Protocol)
			return
		}
		cutAsRead(r)
	})
	c := b.connect()
	answers := map[string]error{
		"new_mission":  second(c.NewMission(b.ctx(), missions.NewMissionRequest{})),
		"fork":         second(c.Fork(b.ctx(), missions.ForkRequest{})),
		"launch":       second(c.Launch(b.ctx(), missions.LaunchRequest{})),
		"rename":       second(c.Rename(b.ctx(), missions.RenameRequest{})),
		"remove":       second(c.Remove(b.ctx(), missions.RemoveRequest{})),
		"unremove":     second(c.Unremove(b.ctx(), missions.UnremoveRequest{})),
		"trash":        second(c.Trash(b.ctx(), missions.TrashRequest{Empty: true})),
		"prune":        second(c.Prune(b.ctx(), missions.PruneRequest{})),
		"move_project": second(c.MoveProject(b.ctx(), missions.MoveProjectRequest{})),
		"unpin":        second(c.Unpin(b.ctx(), missions.PinRequest{})),
		"restore":      second(c.Restore(b.ctx(), missions.RestoreRequest{})),
		"merge":        second(c.Merge(b.ctx(), missions.MergeRequest{})),
		"promote":      second(c.Promote(b.ctx(), missions.PromoteRequest{})),
		"enter_fork":   second(c.EnterFork(b.ctx(), missions.EnterForkRequest{})),
		"leave_fork":   second(c.LeaveFork(b.ctx(), missions.LeaveForkRequest{})),
		"undo":         second(c.Undo(b.ctx(), missions.UndoRequest{})),
		"redo":         second(c.Redo(b.ctx(), missions.UndoRequest{})),
		"cancel":       second(c.Cancel(b.ctx(), missions.CancelRequest{})),

		"remove_remote": second(c.RemoveRemote(b.ctx(), missions.RemoteRequest{})),
	}
	for name, err := range answers {
		if e := missions.AsError(err); err == nil || !strings.Contains(e.Hint, "umbra ") || strings.Contains(e.Message, "EOF") || !strings.Contains(e.Message, "whether the ") {
			t.Errorf("%s: %v (%s)", name, err, e.Hint)
		}
	}
	for name, m := range missions.Methods() {
		if _, once := answers[name]; once == m.Is(missions.Repeats) {
			t.Errorf("%s: neither asked again nor explained, or both", name)
		}
	}
}

// TestCutOffBeforeItIsBegun: a call that is not made twice was not begun where nobody has
// read it, as where a daemon stops that was just asked. It is made of whoever serves then.
func TestCutOffBeforeItIsBegun(t *testing.T) {
	b := newBench(t)
	s := b.start()
	b.write("a.txt", "one\n")
	m := b.mission(s.Service(), "work")
	var cuts atomic.Int32
	front := b.front()
	front.impostor(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Prefix+"rename" && cuts.Add(-1) >= 0 {
			cutUnread(w)
			return
		}
		s.serve(w, r)
	})
	c := front.connect()
	rename := func(name string) error {
		_, err := c.Rename(b.ctx(), missions.RenameRequest{Caller: b.caller(), Mission: m.ID, Name: name})
		return err
	}
	for times, name := range map[int32]string{1: "renamed", 3: "again"} { // one serves, and leaves, right after the other
		cuts.Store(times)
		must(t, rename(name))
		if now := b.state(s.Service(), m); now.Name != name || cuts.Load() != -1 {
			t.Errorf("it is named %s, cuts %d", now.Name, cuts.Load())
		}
	}
	must(t, rename("renamed"))
	cuts.Store(100)
	err := rename("never")
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindNoDaemon || !strings.Contains(e.Message, "nothing was done: the connection was cut") {
		t.Errorf("cut off each time: %v", err)
	}
	if now := b.state(s.Service(), m); now.Name != "renamed" {
		t.Errorf("it is named %s", now.Name)
	}
}

func second[T any](_ T, err error) error { return err }

// TestHangsInACall stops answering in the middle of a call with a deadline: half
// of the time is left to do without.
func TestHangsInACall(t *testing.T) {
	b := newBench(t)
	var hung atomic.Bool
	b.impostor(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Prefix+api.MethodAbout && !hung.Load() {
			fmt.Fprintf(w, `{"result":{"protocol":%d}}`+"\n", api.Protocol)
			return
		}
		hung.Store(true)
		<-r.Context().Done()
	})
	c := b.connect(impatient)
	ctx, cancel := context.WithTimeout(b.ctx(), patience.Of(time.Minute))
	defer cancel()
	_, err := c.Hook(ctx, missions.HookRequest{Caller: b.caller(), Agent: "claude"})
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindNoDaemon || ctx.Err() != nil {
		t.Errorf("hook: %v, %v", err, ctx.Err())
	}
}

// TestWorksOnWhileItLives lets a call take long whose daemon shows, each time that
// it is asked, that it lives.
func TestWorksOnWhileItLives(t *testing.T) {
	b := newBench(t)
	s := b.start()
	var working atomic.Bool
	asked := make(chan struct{}, 100)
	s.instead("hook", func(ctx context.Context, result any) error {
		working.Store(true)
		for range 2 {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-asked:
			}
		}
		result.(*missions.HookResult).Mission = "slow"
		return nil
	})
	front := b.front()
	front.impostor(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == api.Prefix+api.MethodAbout && working.Load() {
			asked <- struct{}{}
		}
		s.serve(w, r)
	})
	c := front.connect()
	r, err := c.Hook(b.ctx(), missions.HookRequest{Caller: b.caller(), Agent: "claude"})
	if err != nil || r.Mission != "slow" {
		t.Errorf("hook: %+v %v", r, err)
	}
}

// TestRequestsAreTold asks again with the id of a request that was answered, and
// with one that never was.
func TestRequestsAreTold(t *testing.T) {
	b := newBench(t)
	s := b.start()
	b.write("a.txt", "one\n")
	b.mission(s.Service(), "work")
	r := missions.SnapshotRequest{Caller: b.caller(), ID: missions.NewRequestID()}
	first, err := s.Service().Snapshot(b.ctx(), r)
	must(t, err)
	b.write("a.txt", "two\n")
	_, err = s.Service().Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
	must(t, err)
	r.MarkRepeated()
	told, err := s.Service().Snapshot(b.ctx(), r)
	must(t, err)
	if told.ID != first.ID {
		t.Errorf("answered with %s, not %s", told.ID, first.ID)
	}
	r.ID = missions.NewRequestID()
	other, err := s.Service().Snapshot(b.ctx(), r)
	must(t, err)
	if other.ID == first.ID {
		t.Error("a request that was not heard is answered with another's snapshot")
	}
}
