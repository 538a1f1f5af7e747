package missions

import (
	"context"
	"slices"
	"testing"
)

// hearing is a Watching that hears one thing after the other.
type hearing struct {
	Watching
	heard []Dirty
	back  int
}

func (h *hearing) Take(context.Context, string) Dirty {
	d := h.heard[0]
	h.heard = h.heard[1:]
	return d
}

func (h *hearing) Return(string, Dirty) { h.back++ }

// TestUnheard: an event that is only coming, or that nobody could have seen, is
// none that was missed.
func TestUnheard(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	found := []string{"a", "d/b", "d/c/e", "dd/f"}
	for name, c := range map[string]struct {
		before, now Dirty
		want        []string
	}{
		"none told":            {Dirty{}, Dirty{}, found},
		"told during the walk": {Dirty{}, Dirty{Paths: []string{"a"}, Trees: []string{"d"}}, []string{"dd/f"}},
		"nobody watched":       {Dirty{Full: true, Why: NotWatched}, Dirty{}, nil},
		"events were lost":     {Dirty{Full: true, Lost: true}, Dirty{Paths: []string{"dd/f"}}, []string{"a", "d/b", "d/c/e"}},
		"nobody can tell now":  {Dirty{}, Dirty{Full: true, Why: "first look"}, nil},
		"they are lost by now": {Dirty{}, Dirty{Full: true, Lost: true}, found},
	} {
		h := &hearing{heard: []Dirty{c.now}}
		b.local.watching = h
		ws := &workspace{l: b.local, dirty: c.before}
		if got := ws.unheard(t.Context(), found); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if h.back != 1-len(h.heard) {
			t.Errorf("%s: what was heard was not given back", name)
		}
	}
	b.local.watching = &hearing{}
	if got := (&workspace{l: b.local}).unheard(t.Context(), nil); got != nil {
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
	loaded, err := b.local.missionByID(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := b.local.workspace(t.Context(), loaded)
	if err != nil {
		t.Fatal(err)
	}
	for accepted, want := range map[bool]string{false: "as a test", true: ""} {
		b.local.oweWalk(ws.root, "as a test")
		batch := loaded.project.store.NewBatch()
		result, err := ws.capture(t.Context(), loaded.project.store, batch, nil)
		if err == nil {
			err = batch.Flush(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if accepted {
			ws.accept(result)
		}
		ws.giveBack()
		if why := b.local.takeOwedWalk(ws.root); why != want {
			t.Errorf("accepted %t: a walk is owed for %q, want %q", accepted, why, want)
		}
	}
}
