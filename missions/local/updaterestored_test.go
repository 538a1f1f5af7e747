package local

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestReportOfRestoredFork: the parent's agent is told of a fork that was put back to before
// its report, whether it has had the report or not, and of the undo.
func TestReportOfRestoredFork(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.fork.answers("third", "found it")
	f.reports("")
	f.fork.hook("SessionEnd", map[string]any{"reason": "other"})
	moments, err := f.local.Log(t.Context(), missions.LogRequest{Caller: f.caller(), Mission: "try", Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	put := func(moment string) {
		t.Helper()
		if _, err := f.local.Restore(t.Context(), missions.RestoreRequest{Caller: f.caller(), Mission: "try", Moment: moment, Force: true, All: true}); err != nil {
			t.Fatal(err)
		}
	}
	put("try@2")
	f.waits(2)
	if g := f.prompted("third"); !strings.Contains(g.Context, "found it") || !strings.Contains(g.Context, "mission try was put back") ||
		!strings.Contains(g.Context, "\n| It is as in turn 2 again (restore ") {
		t.Errorf("told %q", g.Context)
	} else {
		f.shows(g.Context, true)
	}
	f.waits(0)
	if _, err := f.local.Undo(t.Context(), missions.UndoRequest{Caller: f.caller(), Mission: "try", Force: true}); err != nil {
		t.Fatal(err)
	}
	f.waits(1)
	if list := f.updates(false); list[0].Kind != missions.UpdateRestored || !strings.HasPrefix(list[0].Text, "It is as in turn 3 again (undo ") {
		t.Errorf("of the undo it is told %+v", list[0])
	}
	f.fork.answers("fourth", "more")
	put(moments[0].ID) // the end of the turn of which it has reported
	f.waits(1)
	f.fork.hook("UserPromptSubmit", map[string]any{"prompt": "fifth", "prompt_id": "p5"})
	f.reports("found before")
	later, err := f.local.Snapshot(t.Context(), missions.SnapshotRequest{Caller: f.caller(), Mission: "try"})
	if err != nil {
		t.Fatal(err)
	}
	f.fork.write("more.txt", "more\n")
	put(later.ID) // of the same turn, and after the report
	f.waits(2)
	f.healthy()
}
