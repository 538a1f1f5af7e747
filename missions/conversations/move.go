package conversations

import (
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// PlanMove completes the rewrite of a snapshot's conversation, of which the new id and
// places are given: where the old places are, and what is known of the paths in it.
func (l *Library) PlanMove(m *projects.Mission, s *gitstore.Snapshot, to sessions.Rewrite) (sessions.Rewrite, error) {
	var err error
	if to.OldRoot, to.OldCwd, err = l.ConversationDirs(m.Project, s); err != nil {
		return to, err
	}
	to.Now = l.Now()
	if to.OldRoot == to.NewRoot {
		return to, nil
	}
	to.Home = m.AdapterEnv().Home
	if real := projects.ResolveLinks(to.Home); strings.HasPrefix(to.OldRoot, real+"/") {
		to.Home = real
	}
	if strings.Count(to.OldRoot, "/") == 1 {
		to.Names = namesInRoot(m.Project, s, to.OldRoot)
	}
	return to, nil
}

// mostNames bounds how many names in a root are kept with a copy.
const mostNames = 1000

// namesInRoot is what is directly in a workspace, in a snapshot and now; none if that is
// not known, or too much to keep.
func namesInRoot(p *projects.Project, s *gitstore.Snapshot, root string) []string {
	entries, err := p.Store.Tree(s.Tree)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	there, _ := os.ReadDir(root) // it may be gone
	for _, e := range there {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > mostNames {
		return nil
	}
	return names
}
