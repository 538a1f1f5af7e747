package local

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestInheritedTalk: a conversation that is restored in a fork, or forked again, to a
// moment before the fork names the workspace that it goes on in, and not the one in
// which it was held then.
func TestInheritedTalk(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")
	fork := func(from, name string) missions.Mission {
		t.Helper()
		made, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: from, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return made.Missions[0]
	}
	source := c.only()
	f := fork(source.Name, "f")
	names := func(m missions.Mission) {
		t.Helper()
		now, err := c.local.MissionByID(m.ID)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(now.Binding.SessionPath)
		if err != nil || !strings.Contains(string(text), m.Workspace+`"`) {
			t.Errorf("%s names nothing of its own workspace (%v)", now.Binding.SessionPath, err)
		}
		if strings.Contains(string(text), source.Workspace+`"`) || m.ID != f.ID && strings.Contains(string(text), f.Workspace+`"`) {
			t.Errorf("%s names the workspace of another mission", now.Binding.SessionPath)
		}
	}
	names(f)
	names(fork("f@1", "g"))
	names(fork("g@1", "h"))
	there := c.caller()
	there.Cwd = f.Workspace
	if r, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: there, Moment: "f@1"}); err != nil || r.Mission != f.ID || r.SessionID == f.SessionID {
		t.Fatalf("restored: %+v %v", r, err)
	}
	names(f)
	c.healthy()
}
