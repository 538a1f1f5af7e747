package conversations

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
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

// mostNames bounds how many names in a root are kept with a copy, mostLooks how many
// moments are looked at for them.
const (
	mostNames = 1000
	mostLooks = 2000
)

// namesInRoot is what is directly in a workspace, in a snapshot, now and at the moments
// before, newest first; none if that is not known, or too much to keep.
func namesInRoot(p *projects.Project, s *gitstore.Snapshot, root string) []string {
	entries, err := p.Store.Tree(s.Tree)
	if err != nil {
		return nil
	}
	names := map[string]bool{}
	for _, e := range entries {
		names[e.Name] = true
	}
	there, _ := os.ReadDir(root) // it may be gone
	for _, e := range there {
		names[e.Name()] = true
	}
	if len(names) > mostNames {
		return nil
	}
	last := s.Tree
	for c, err := range p.Store.History(s.ID, shadow.HistoryOptions{Limit: mostLooks}) {
		if err != nil {
			break
		}
		if c.Tree == last {
			continue
		}
		last = c.Tree
		entries, _ := p.Store.Tree(c.Tree) // it may be lost
		for _, e := range entries {
			if len(names) < mostNames {
				names[e.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}
