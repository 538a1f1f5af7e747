package forks

import (
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// TestForkedCommandWorktree: a fork's agent makes no worktree of its own, also where the
// source is of another machine and has no workspace here.
func TestForkedCommandWorktree(t *testing.T) {
	t.Parallel()
	for _, a := range projects.Agents() {
		if _, makes := a.(sessions.WorktreeMaking); !makes {
			continue
		}
		for _, workspace := range []string{"", "/w"} {
			m := &projects.Mission{}
			m.Binding.Workspace = workspace
			got := forkedCommand(m, []string{a.Name(), "--worktree", "feat", "--model", "x"}, "/n", a)
			if want := []string{a.Name(), "--model", "x"}; !slices.Equal(got, want) {
				t.Errorf("of a source in %q: %q", workspace, got)
			}
		}
	}
}
