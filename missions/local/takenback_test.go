package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestTakenBackIsNotSaid: a mission says the last prompt and tool of the
// conversation that it has, not those that a restore or fork left behind.
func TestTakenBackIsNotSaid(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int64{"read": conversations.MaxCountedBytes, "too long to be read": 0} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.local.Adapters, b.local.MaxCountedBytes = projects.Agents(), most
			c := newTalker(b)
			c.hook("SessionStart", map[string]any{"source": "startup"})
			c.takeTurn("first", "a.txt", "one\n")
			c.takeTurn("second", "b.txt", "two\n")
			says := func(when, prompt, target string) {
				t.Helper()
				m, err := b.local.Mission(context.Background(), missions.MissionRequest{Caller: b.caller()})
				if err != nil {
					t.Fatal(err)
				}
				text, tool := "", ""
				if m.LastPrompt != nil {
					text = m.LastPrompt.Text
				}
				if m.LastTool != nil {
					tool = m.LastTool.Target
				}
				if text != prompt || tool != target {
					t.Errorf("%s the mission says %q and %q, want %q and %q", when, text, tool, prompt, target)
				}
			}
			says("after two turns", "second", "b.txt")
			b.restore("@1")
			says("restored to turn 1", "first", "a.txt")
			if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()}); err != nil {
				t.Fatal(err)
			}
			says("after undo", "second", "b.txt")
			b.restore("@2.0")
			says("restored to before turn 2", "first", "a.txt")
			b.restore("@1.0")
			says("restored to before turn 1", "", "")
			fork, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "@2.0"})
			if err != nil {
				t.Fatal(err)
			}
			if p := fork.Missions[0].LastPrompt; p == nil || p.Text != "first" {
				t.Errorf("a fork from before turn 2 says %+v", p)
			}
		})
	}
}

// TestTakenBackInLog: a log marks what restores, undos and redos have taken back, and a
// restore says which turns it takes back.
func TestTakenBackInLog(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	for turn, prompt := range []string{"first", "second", "third"} {
		c.takeTurn(prompt, fmt.Sprintf("%d.txt", turn+1), prompt+"\n")
	}
	marked := func(when string, want ...int) {
		t.Helper()
		log, err := b.local.Log(t.Context(), missions.LogRequest{Caller: b.caller()})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, e := range log {
			if e.TurnTakenBack != slices.Contains(want, e.Turn) {
				t.Errorf("%s, turn %d at %s is taken back: %t", when, e.Turn, e.Address, e.TurnTakenBack)
			}
			switch {
			case e.Operation != "":
			case e.TakenBack && !slices.Contains(got, e.Turn):
				got = append(got, e.Turn)
			case !e.TakenBack && slices.Contains(want, e.Turn):
				t.Errorf("%s, %s of turn %d, %q, is not taken back", when, e.Address, e.Turn, e.Label)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s, turns %v are taken back, want %v", when, got, want)
		}
		for i, after := range log {
			page, err := b.local.Log(t.Context(), missions.LogRequest{Caller: b.caller(), After: after.ID, Limit: 3})
			isSame := func(a, b missions.Entry) bool {
				return a.ID == b.ID && a.Address == b.Address && a.TakenBack == b.TakenBack && a.TurnTakenBack == b.TurnTakenBack
			}
			if err != nil || !slices.EqualFunc(page, log[i+1:min(i+4, len(log))], isSame) {
				t.Errorf("%s, the page behind %s: %+v, %v", when, after.Address, page, err)
			}
		}
	}
	restored := func(r missions.RestoreRequest, turns ...int) {
		t.Helper()
		r.Caller, r.Force = b.caller(), true
		got, err := b.local.Restore(t.Context(), r)
		if err != nil || !slices.Equal(got.Conversation.TurnsDropped, turns) {
			t.Errorf("restored to %s, turns %v are taken back, want %v: %v", r.Moment, got.Conversation.TurnsDropped, turns, err)
		}
	}
	marked("after three turns")
	_, err := b.local.Log(t.Context(), missions.LogRequest{Caller: b.caller(), After: strings.Repeat("0", 40)})
	b.fails("a page behind what is not there", err, missions.KindNotFound)
	restored(missions.RestoreRequest{Moment: "@1", Paths: []string{"2.txt"}})
	marked("after a restore of one path")
	restored(missions.RestoreRequest{Moment: "@2", ConversationOnly: true}, 3)
	marked("after a restore of the conversation alone")
	restored(missions.RestoreRequest{Moment: "@1", FilesOnly: true})
	marked("after a restore of the files", 2, 3)
	if _, err := b.local.Undo(t.Context(), missions.UndoRequest{Caller: b.caller(), Steps: 3}); err != nil {
		t.Fatal(err)
	}
	marked("after undo")
	restored(missions.RestoreRequest{Moment: "@1"}, 2, 3)
	marked("after a restore", 2, 3)
	restored(missions.RestoreRequest{Moment: "@2"})
	marked("after a restore of what was taken back", 3)
	ops, err := b.local.Log(t.Context(), missions.LogRequest{Caller: b.caller(), Ops: true, Limit: 1})
	if err != nil || len(ops) != 1 || !ops[0].TurnTakenBack {
		t.Errorf("the last operation alone: %+v, %v", ops, err)
	}
	if shown, err := b.local.Show(t.Context(), missions.ShowRequest{Caller: b.caller(), Moment: "@3", Brief: true}); err != nil || !shown.Entry.TakenBack {
		t.Errorf("turn 3 is shown as %+v, %v", shown.Entry, err)
	}
	restored(missions.RestoreRequest{Moment: "@1"}, 2) // 3 was taken back before
	restored(missions.RestoreRequest{Moment: "@start"}, 1)
}
