package moves

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// movedPath is where a path leads now that what was in from is in to.
func movedPath(path, from, to string) string {
	if path != "" && home.IsWithin(from, path) {
		return to + strings.TrimPrefix(path, from)
	}
	return path
}

// movedBinding is a binding whose paths lead to where all that was in from is now. A fork
// that was itself moved is no more where Umbra made it, and its document says so.
func movedBinding(b projects.Binding, from, to string) projects.Binding {
	b.CommonDir, b.Worktree = movedPath(b.CommonDir, from, to), movedPath(b.Worktree, from, to)
	if b.Fork == nil {
		return b
	}
	doc := *b.Fork
	doc.CommonDir = movedPath(doc.CommonDir, from, to)
	if doc.Directory != from {
		doc.Directory, doc.Parents = movedPath(doc.Directory, from, to), slices.Clone(doc.Parents)
		for i := range doc.Parents {
			doc.Parents[i] = movedPath(doc.Parents[i], from, to)
		}
	}
	b.Fork = &doc
	return b
}

// moveRepository rebinds the missions whose repository was moved and whose workspace was
// not, as that of a fork.
func (mv *Mover) moveRepository(ctx context.Context, p *projects.Project, from, to string, moved []MissionMove) error {
	list, _ := mv.ProjectMissions(p)
	for _, m := range list {
		b := m.Binding
		if slices.ContainsFunc(moved, func(o MissionMove) bool { return o.Mission.ID == m.ID }) {
			continue
		}
		if b.Workspace == "" || movedPath(b.CommonDir, from, to) == b.CommonDir && (b.Fork == nil || movedPath(b.Fork.CommonDir, from, to) == b.Fork.CommonDir) {
			continue
		}
		err := mv.WithRecoveredMission(ctx, m, func(m *projects.Mission) error {
			m.Binding = movedBinding(m.Binding, from, to)
			if err := mv.snapshots.WriteMetaRecord(ctx, m, "its repository was moved from "+from); err != nil {
				return err
			}
			mv.SaveLiveState(m)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// repairWorktrees has Git find the worktrees of the project's forks again, and be found by
// them, after the repository or a worktree was moved. What it can't mend is said, with the
// command that does.
func (mv *Mover) repairWorktrees(ctx context.Context, p *projects.Project, from string, to projects.Directory) {
	if to.Repo == nil || to.Repo.CommonDir == "" {
		return
	}
	var worktrees []string
	add := func(path string) {
		if st, err := os.Stat(path); err == nil && st.IsDir() && !slices.Contains(worktrees, path) {
			worktrees = append(worktrees, path)
		}
	}
	if to.Repo.Linked {
		add(to.Top)
	}
	list, _ := mv.ProjectMissions(p)
	for _, m := range list {
		add(movedPath(m.Binding.Worktree, from, to.Dir))
	}
	if len(worktrees) == 0 {
		return
	}
	_, err := git.Run(ctx, git.Command{
		GitDir: to.Repo.CommonDir, Dir: to.Repo.CommonDir, Config: []string{"protocol.allow=never"}, Args: append([]string{"worktree", "repair"}, worktrees...),
	})
	if err != nil {
		mv.Logger.Warn("repair the worktrees of a repository that was moved", "repository", to.Repo.CommonDir, "error", err)
	}
	for _, path := range worktrees {
		if repo, err := usergit.At(path); err != nil || repo.Unread != nil {
			missions.Notify(ctx, missions.Notice{
				Text: fmt.Sprintf("the worktree %s does not lead to its repository: %s", path, projects.RepairCommand(to.Repo.CommonDir, path)),
			})
		}
	}
}
