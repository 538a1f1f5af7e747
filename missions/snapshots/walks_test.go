package snapshots

import (
	"context"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
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

// TestMissedPaths: an event that is only coming, or that nobody could have seen, is
// none that was missed.
func TestMissedPaths(t *testing.T) {
	t.Parallel()
	found := []string{"a", "d/b", "d/c/e", "dd/f"}
	for name, c := range map[string]struct {
		before, now missions.Dirty
		want        []string
	}{
		"none told":            {missions.Dirty{}, missions.Dirty{}, found},
		"told during the walk": {missions.Dirty{}, missions.Dirty{Paths: []string{"a"}, Trees: []string{"d"}}, []string{"dd/f"}},
		"nobody watched":       {missions.Dirty{Full: true, Why: ReasonNotWatched}, missions.Dirty{}, nil},
		"events were lost":     {missions.Dirty{Full: true, Lost: true}, missions.Dirty{Paths: []string{"dd/f"}}, []string{"a", "d/b", "d/c/e"}},
		"nobody can tell now":  {missions.Dirty{}, missions.Dirty{Full: true, Why: "first look"}, nil},
		"they are lost by now": {missions.Dirty{}, missions.Dirty{Full: true, Lost: true}, found},
	} {
		h := &hearing{heard: []missions.Dirty{c.now}}
		ws := newWorkspaces(&projects.Desk{Base: &projects.Base{Watching: h}}).UnknownWorkspace()
		ws.Dirty = c.before
		if got := ws.findMissedPaths(t.Context(), found); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if h.back != 1-len(h.heard) {
			t.Errorf("%s: what was heard was not given back", name)
		}
	}
	ws := newWorkspaces(&projects.Desk{Base: &projects.Base{Watching: &hearing{}}}).UnknownWorkspace()
	if got := ws.findMissedPaths(t.Context(), nil); got != nil {
		t.Errorf("of nothing: %q", got)
	}
}
