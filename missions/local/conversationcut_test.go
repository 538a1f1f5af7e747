package local

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
)

// startLong begins a talker whose conversation is long enough for its end to be read
// alone.
func startLong(t *testing.T) *talker {
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	filler := strings.Repeat("words ", 4000)
	for n := range 30 {
		c.say(c.line("user", fmt.Sprintf("l%d", n), "", fmt.Sprintf("%q", filler)),
			c.line("assistant", fmt.Sprintf("m%d", n), "", `[{"type":"text","text":"`+filler+`"}]`))
	}
	for n := range 40 {
		c.say(c.line("user", fmt.Sprintf("s%d", n), "", `"short"`), c.line("assistant", fmt.Sprintf("t%d", n), "", `[{"type":"text","text":"yes"}]`))
	}
	return c
}

// TestCutFromItsEnd: the end of a long conversation tells where all of it is cut,
// at each of its moments, whether or not the agent's file still holds it.
func TestCutFromItsEnd(t *testing.T) {
	t.Parallel()
	c := startLong(t)
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "a.txt", "two\n")
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for s, err := range m.Project.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		r, meta, err := c.local.OpenRecordedConversation(m.Project, s.Record)
		if err != nil {
			continue // before anything was said
		}
		all, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		a := c.local.Adapter(meta.Agent)
		want, err := a.Cut(bytes.NewReader(all))
		if err != nil {
			t.Fatal(err)
		}
		for _, beside := range []string{"", m.Binding.SessionPath, os.DevNull} {
			plan, err := c.local.PlanCutAtSnapshot(m.Project, s, beside)
			if err != nil || !reflect.DeepEqual(plan.Cut, want) {
				t.Errorf("%s: cut %+v (%v), want %+v", s.Message, plan.Cut, err, want)
			}
			_, ok, err := c.local.FindCutInTail(m.Project, a, plan, want.Events)
			if err != nil {
				t.Error(err)
			}
			if ok {
				told++
			}
		}
	}
	if told == 0 {
		t.Error("no end told anything")
	}
}

// TestForkOfALongConversation: a fork, and a fork of that, hold the conversation
// as a rewrite of the whole makes it.
func TestForkOfALongConversation(t *testing.T) {
	t.Parallel()
	c := startLong(t)
	c.takeTurn("first", "a.txt", "one\n")
	from := c.only()
	for generation := range 2 {
		made, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: from.Name, Name: fmt.Sprintf("fork-%d", generation)})
		if err != nil {
			t.Fatal(err)
		}
		fork := made.Missions[0]
		source, err := os.ReadFile(from.SessionPath)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		err = c.local.Adapter(fork.Agent).Rewrite(&want, bytes.NewReader(source), int64(len(source)), sessions.Rewrite{
			OldID: from.SessionID, NewID: fork.SessionID, OldCwd: from.Workspace, NewCwd: fork.Workspace, OldRoot: from.Workspace, NewRoot: fork.Workspace,
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(fork.SessionPath)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf("the fork's conversation has %d bytes, want %d: %v", len(got), want.Len(), err)
		}
		m, err := c.local.MissionByID(fork.ID)
		if err != nil {
			t.Fatal(err)
		}
		r, meta, err := c.local.OpenRecordedConversation(m.Project, m.Record)
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := io.ReadAll(r)
		r.Close()
		if err != nil || !bytes.Equal(recorded, got) {
			t.Errorf("the record holds %d bytes, not %d: %v", len(recorded), len(got), err)
		}
		if in := meta.Inherited; in == nil || in.Length != int64(len(got)) {
			t.Errorf("inherited: %+v", in)
		}
		from = fork
	}
	c.healthy()
}
