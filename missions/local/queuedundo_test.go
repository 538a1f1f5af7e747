package local

import (
	"context"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// restoredTalker is an agent whose files were put back after its second turn, and that
// works at as many turns since as are asked for, the last of which goes on.
func restoredTalker(t *testing.T, turns ...string) *talker {
	t.Helper()
	c := startTalker(t)
	c.write("a.txt", "zero\n")
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "a.txt", "two\n")
	c.restore("@1", func(r *missions.RestoreRequest) { r.FilesOnly = true })
	for _, turn := range turns[:len(turns)-1] {
		c.takeTurn(turn, "b.txt", turn)
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": turns[len(turns)-1], "prompt_id": "last"})
	c.write("c.txt", "in the turn\n")
	return c
}

// TestUndoWaits: asked for in a turn, by the agent or with --when-idle, an undo is done
// at the turn's end; that turn does not count as one that came since. With force it
// waits too where that is asked for.
func TestUndoWaits(t *testing.T) {
	t.Parallel()
	undo := func(c *talker, r missions.UndoRequest) (missions.RestoreResult, error) {
		r.Caller = c.caller()
		r.Caller.Mission = c.mission
		return c.local.Undo(context.Background(), r)
	}
	for name, r := range map[string]missions.UndoRequest{"when idle": {WhenIdle: true}, "when idle, forced": {WhenIdle: true, Force: true}, "inside": {}} {
		t.Run(name, func(t *testing.T) {
			c := restoredTalker(t, "third")
			if name == "inside" {
				c.mission = c.only().ID
			}
			if got, err := undo(c, r); err != nil || !got.Queued || c.read("a.txt") != "one\n" {
				t.Fatalf("asked for in a turn: %+v, %v; a.txt is %q", got, err, c.read("a.txt"))
			}
			c.hook("Stop", map[string]any{"prompt_id": "last"})
			if m := c.only(); c.read("a.txt") != "two\n" || c.read("c.txt") != "in the turn\n" || len(m.Problems) > 0 {
				t.Errorf("at the turn's end a.txt is %q, the problems are %q", c.read("a.txt"), m.Problems)
			}
			c.mission = ""
			c.hook("UserPromptSubmit", map[string]any{"prompt": "fourth", "prompt_id": "p4"})
			if got, err := c.local.Redo(context.Background(), missions.UndoRequest{Caller: c.caller(), WhenIdle: true}); err != nil || !got.Queued {
				t.Fatalf("redo asked for in a turn: %+v, %v", got, err)
			}
			c.hook("Stop", map[string]any{"prompt_id": "p4"})
			if got := c.read("a.txt"); got != "one\n" {
				t.Errorf("done again a.txt is %q", got)
			}
			c.healthy()
		})
	}
}

// TestUndoRefusedAtOnce: what the end of the turn would refuse is refused when it is
// asked for; forced it is done then.
func TestUndoRefusedAtOnce(t *testing.T) {
	t.Parallel()
	c := restoredTalker(t, "third", "fourth")
	_, err := c.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), WhenIdle: true})
	c.fails("an undo across a whole turn", err, missions.KindConflict)
	if e := missions.AsError(err); !strings.Contains(e.Message, "a turn ran") || !strings.Contains(e.Hint, "--force --when-idle") {
		t.Errorf("it says %s; %s", e.Message, e.Hint)
	}
	if _, err = c.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), Steps: 2, WhenIdle: true}); missions.AsError(err).Kind != missions.KindNotFound {
		t.Errorf("more steps than there are: %v", err)
	}
	if got, err := c.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), WhenIdle: true, Force: true}); err != nil || !got.Queued {
		t.Fatalf("forced: %+v, %v", got, err)
	}
	c.hook("Stop", map[string]any{"prompt_id": "last"})
	if got := c.read("a.txt"); got != "two\n" {
		t.Errorf("at the turn's end a.txt is %q", got)
	}
	c.healthy()
}

// TestUndoOfWhatWasMeant: an undo that waited takes nothing else back than what was
// there to be when it was asked for.
func TestUndoOfWhatWasMeant(t *testing.T) {
	t.Parallel()
	c := restoredTalker(t, "third")
	if got, err := c.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), WhenIdle: true}); err != nil || !got.Queued {
		t.Fatalf("%+v, %v", got, err)
	}
	m, err := c.local.MissionByID(c.only().ID)
	if err != nil {
		t.Fatal(err)
	}
	waits := *m.Live.QueuedRestore
	c.restore("@1.0", func(r *missions.RestoreRequest) { r.FilesOnly, r.Force, r.All = true, true, true })
	c.hook("Stop", map[string]any{"prompt_id": "last"})
	_, err = c.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), Known: waits.Undo.Known})
	c.fails("an undo of another restore", err, missions.KindConflict)
	if got := c.read("a.txt"); got != "zero\n" {
		t.Errorf("a.txt is %q", got)
	}
	c.healthy()
}

// TestQueuedInThePlaceOfAnother: what is asked for last is what happens, and whoever asks
// for it is told what does not.
func TestQueuedInThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	c := restoredTalker(t, "third")
	if got, err := c.local.Undo(context.Background(), missions.UndoRequest{Caller: c.caller(), WhenIdle: true}); err != nil || !got.Queued || len(got.Notes) > 0 {
		t.Fatalf("an undo: %+v, %v", got, err)
	}
	got, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "@1.0", WhenIdle: true, FilesOnly: true})
	if err != nil || !got.Queued || !strings.Contains(strings.Join(got.Notes, "\n"), ": undo") {
		t.Fatalf("a restore in its place: %+v, %v", got, err)
	}
	c.hook("Stop", map[string]any{"prompt_id": "last"})
	if got := c.read("a.txt"); got != "zero\n" {
		t.Errorf("at the turn's end a.txt is %q", got)
	}
	c.healthy()
}
