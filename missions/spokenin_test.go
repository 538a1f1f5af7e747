package missions

import (
	"context"
	"os"
	"strings"
	"testing"
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
	fork := func(from, name string) Mission {
		t.Helper()
		made, err := c.local.Fork(context.Background(), ForkRequest{Caller: c.caller(), From: from, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return made.Missions[0]
	}
	source := c.only()
	f := fork(source.Name, "f")
	names := func(m Mission) {
		t.Helper()
		now, err := c.local.missionByID(m.ID)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(now.bind.Session)
		if err != nil || !strings.Contains(string(text), m.Workspace+`"`) {
			t.Errorf("%s names nothing of its own workspace (%v)", now.bind.Session, err)
		}
		if strings.Contains(string(text), source.Workspace+`"`) || m.ID != f.ID && strings.Contains(string(text), f.Workspace+`"`) {
			t.Errorf("%s names the workspace of another mission", now.bind.Session)
		}
	}
	names(f)
	names(fork("f@1", "g"))
	names(fork("g@1", "h"))
	there := c.caller()
	there.Cwd = f.Workspace
	if r, err := c.local.Restore(context.Background(), RestoreRequest{Caller: there, Moment: "f@1"}); err != nil || r.Mission != f.ID || r.SessionID == f.SessionID {
		t.Fatalf("restored: %+v %v", r, err)
	}
	names(f)
	c.healthy()
}
