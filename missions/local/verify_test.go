package local

import (
	"context"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// hearing is a Watching that hears one thing after the other.
type hearing struct {
	missions.Watching
	heard []missions.Dirty
	back  int
}

func (h *hearing) Take(context.Context, string) missions.Dirty {
	d := h.heard[0]
	h.heard = h.heard[1:]
	return d
}

func (h *hearing) Return(string, missions.Dirty) { h.back++ }

// TestUnheard: an event that is only coming, or that nobody could have seen, is
// none that was missed.
func TestUnheard(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	found := []string{"a", "d/b", "d/c/e", "dd/f"}
	for name, c := range map[string]struct {
		before, now missions.Dirty
		want        []string
	}{
		"none told":            {missions.Dirty{}, missions.Dirty{}, found},
		"told during the walk": {missions.Dirty{}, missions.Dirty{Paths: []string{"a"}, Trees: []string{"d"}}, []string{"dd/f"}},
		"nobody watched":       {missions.Dirty{Full: true, Why: snapshots.ReasonNotWatched}, missions.Dirty{}, nil},
		"events were lost":     {missions.Dirty{Full: true, Lost: true}, missions.Dirty{Paths: []string{"dd/f"}}, []string{"a", "d/b", "d/c/e"}},
		"nobody can tell now":  {missions.Dirty{}, missions.Dirty{Full: true, Why: "first look"}, nil},
		"they are lost by now": {missions.Dirty{}, missions.Dirty{Full: true, Lost: true}, found},
	} {
		h := &hearing{heard: []missions.Dirty{c.now}}
		b.local.Watching = h
		ws := &snapshots.WorkspaceCache{Taker: b.local.Taker, Dirty: c.before}
		if got := ws.FindMissedPaths(t.Context(), found); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if h.back != 1-len(h.heard) {
			t.Errorf("%s: what was heard was not given back", name)
		}
	}
	b.local.Watching = &hearing{}
	if got := (&snapshots.WorkspaceCache{Taker: b.local.Taker}).FindMissedPaths(t.Context(), nil); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}

// TestWalkIsOwedAgain: a walk that was owed, and of which nothing was published, is
// still owed; one that was accepted is not.
func TestWalkIsOwedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	loaded, err := b.local.MissionByID(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := b.local.RefreshWorkspace(t.Context(), loaded)
	if err != nil {
		t.Fatal(err)
	}
	for accepted, want := range map[bool]string{false: "as a test", true: ""} {
		b.local.RequestWalk(ws.Root, "as a test")
		batch := loaded.Project.Store.NewBatch()
		result, err := ws.CaptureFiles(t.Context(), loaded.Project.Store, batch, nil)
		if err == nil {
			err = batch.Flush(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if accepted {
			ws.AcceptCapture(result)
		}
		ws.ReturnCapture()
		if why := b.local.TakeWalkReason(ws.Root); why != want {
			t.Errorf("accepted %t: a walk is owed for %q, want %q", accepted, why, want)
		}
	}
}
