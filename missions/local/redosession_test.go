package local

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestRedoKeepsWhatIsInherited: an undo and a redo go back to sessions that records hold
// already. These are not stored again, and what was said in them is found once.
func TestRedoKeepsWhatIsInherited(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first ask about pelicans", "a.txt", "one\n")
	c.named("login")
	c.takeTurn("then about herons", "a.txt", "two\n")
	ctx := context.Background()
	_, first := c.recordedSession()
	result, err := c.local.Restore(ctx, missions.RestoreRequest{Caller: c.caller(), Moment: "login@1"})
	if err != nil {
		t.Fatal(err)
	}
	_, copied := c.recordedSession()
	if copied.Inherited == nil || copied.SessionID == first.SessionID {
		t.Fatalf("%+v goes on in %+v", result, copied)
	}
	if _, err := c.local.Undo(ctx, missions.UndoRequest{Caller: c.caller(), Mission: "login"}); err != nil {
		t.Fatal(err)
	}
	if said, meta := c.recordedSession(); meta.SessionID != first.SessionID || meta.Generation != first.Generation || len(said) != int(first.Length) {
		t.Errorf("the undo has %+v, want %+v", meta, first)
	}
	if _, err := c.local.Redo(ctx, missions.UndoRequest{Caller: c.caller(), Mission: "login"}); err != nil {
		t.Fatal(err)
	}
	if said, meta := c.recordedSession(); meta.SessionID != copied.SessionID || meta.Inherited == nil || len(said) != int(copied.Length) {
		t.Errorf("the redo has %+v, want %+v", meta, copied)
	}
	c.wantFound("pelicans", "login@1.0 prompts: first ask about pelicans")
	c.wantFound("herons", "login@2.0 prompts: then about herons")
	c.healthy()
}

// TestUndoStoresLostSession: where the record that holds the session is damaged, all of the
// session's file is stored.
func TestUndoStoresLostSession(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.named("login")
	c.takeTurn("second", "a.txt", "two\n")
	ctx := context.Background()
	if _, err := c.local.Restore(ctx, missions.RestoreRequest{Caller: c.caller(), Moment: "login@1"}); err != nil {
		t.Fatal(err)
	}
	m := c.only()
	held, err := c.local.Log(ctx, missions.LogRequest{Caller: c.caller(), Mission: "login", Grep: "before the restore|turn ended", Limit: 1})
	if err != nil || len(held) != 1 {
		t.Fatalf("%+v %v", held, err)
	}
	record := strings.TrimSpace(c.git("--git-dir", m.ShadowRepo, "log", "-1", "--format=%(trailers:key=Umbra-Record,valueonly)", held[0].ID))
	chunks := strings.Fields(c.git("--git-dir", m.ShadowRepo, "ls-tree", "-r", "--format=%(objectname)", record, "session/chunks"))
	c.loseObject(m, chunks[0])
	if _, err := c.local.Undo(ctx, missions.UndoRequest{Caller: c.caller(), Mission: "login"}); err != nil {
		t.Fatal(err)
	}
	if said, meta := c.recordedSession(); len(said) != int(meta.Length) || meta.Length == 0 {
		t.Errorf("%d of %d bytes are recorded", len(said), meta.Length)
	}
}
