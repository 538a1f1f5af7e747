package watch

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// world is missions whose snapshots are named by letters; of each, the last is its head.
type world struct {
	missions.Service
	list []missions.Mission
	logs map[string]string // letters, the oldest first
	err  error
}

func (w *world) Missions(context.Context, missions.MissionsRequest) ([]missions.Mission, error) {
	return append([]missions.Mission{}, w.list...), w.err
}

func (w *world) Log(_ context.Context, r missions.LogRequest) (list []missions.Entry, err error) {
	letters := w.logs[r.Mission]
	for i := len(letters) - 1; i >= 0 && len(list) < r.Limit; i-- {
		list = append(list, missions.Entry{ID: letters[i : i+1], Address: r.Mission + "@" + letters[i:i+1], Message: "snapshot " + letters[i:i+1]})
	}
	return list, w.err
}

// TestLook tells each thing once, snapshots the oldest first.
func TestLook(t *testing.T) {
	t.Parallel()
	svc := &world{logs: map[string]string{}}
	w := &watcher{svc: svc}
	looks := func(want ...string) {
		t.Helper()
		happened, err := w.look(t.Context())
		if !errors.Is(err, svc.err) {
			t.Fatal(err)
		}
		got := calltest.Printed(0, func(p *print.Printer) {
			for _, e := range happened {
				if e.words {
					e.print(p)
				} else {
					p.Line("%s changed", e.Mission.Name)
				}
			}
		})
		text := strings.Join(want, "\n")
		if len(want) > 0 {
			text += "\n"
		}
		if got != text {
			t.Errorf("it tells\n%swant\n%s", got, text)
		}
	}
	is := func(name string, state missions.StateName, turn int, snapshots, head string) {
		m := missions.Mission{ID: name, Name: name, State: state, Turn: turn, Head: head, Managed: missions.ManagedKeeper}
		svc.logs[name] = snapshots
		for i := range svc.list {
			if svc.list[i].ID == name {
				svc.list[i] = m
				return
			}
		}
		svc.list = append(svc.list, m)
	}
	looks()
	is("one", missions.StateIdle, 1, "ab", "b")
	looks("one  idle  turn 1")
	looks()
	is("one", missions.StateRunning, 2, "abcd", "d")
	is("two", missions.StateClosed, 0, "x", "x")
	looks("one@c  snapshot c  -", "one@d  snapshot d  -", "one  running  turn 2", "two  closed  turn 0")
	is("one", missions.StateRunning, 2, "abcdefg", "f") // g came after the list
	looks("one@e  snapshot e  -", "one@f  snapshot f  -", "one changed")
	is("one", missions.StateRunning, 2, "abcdefg", "g")
	looks("one@g  snapshot g  -", "one changed")
	many := "abcdefg" + strings.Repeat("h", 200) + "i"
	is("one", missions.StateRunning, 2, many, "i")
	happened, err := w.look(t.Context())
	if err != nil || len(happened) != 202 || happened[200].Snapshot.ID != "i" {
		t.Errorf("%d things happened, %v", len(happened), err)
	}
	is("one", missions.StateIdle, 2, many+"j", "j")
	svc.err = errors.New("the daemon is gone")
	looks()
	svc.err = nil
	looks("one@j  snapshot j  -", "one  idle  turn 2")
	svc.list = svc.list[1:]
	looks("one  removed")
	looks()
}
