// Package moves has missions go on where their workspaces are now: in a directory that was
// moved, or in a copy that took its place. It moves no file of the user's.
package moves

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// Mover binds missions to directories anew. It is safe for concurrent use.
type Mover struct {
	*projects.Desk
	snapshots *snapshots.Taker
	presence  *presence.Observer
	agents    *agents.Launcher
}

// New makes the Mover of a Desk.
func New(d *projects.Desk, t *snapshots.Taker, o *presence.Observer, l *agents.Launcher) *Mover {
	return &Mover{Desk: d, snapshots: t, presence: o, agents: l}
}

// Rebind has a mission go on in the directory that is now where its workspace was, if that
// holds what the workspace held and is nobody else's: a backup that was restored, a copy,
// another mount. The user is told. The caller has locked the directory.
func (mv *Mover) Rebind(ctx context.Context, m *projects.Mission) (*projects.Mission, error) {
	g, err := projects.InspectDirectory(m.Binding.Workspace)
	if err != nil {
		return m, err
	}
	fresh, err := mv.LoadMission(m.Project, m.ID)
	if err != nil || fresh.Binding.Identity.Is(g.Identity) {
		return fresh, err
	}
	if like, err := fresh.Resembles(g); err != nil || !like {
		if err != nil {
			mv.Logger.Warn("compare a directory with a mission's workspace", "mission", m.ID, "error", err)
		}
		return m, projects.WorkspaceMovedError(m, "another directory is in its place")
	}
	if owner := mv.ownerInPlace(fresh, g); owner != "" {
		return m, projects.WorkspaceMovedError(m, "another directory is in its place: "+owner)
	}
	missions.Notify(ctx, missions.Notice{
		Text: fmt.Sprintf("another directory is where %s was, and holds the same files: mission %s goes on in it", g.Dir, fresh.Name),
	})
	mv.Logger.Info("another directory is a mission's workspace: it holds the same files", "mission", m.ID, "workspace", g.Dir)
	if err := mv.bind(ctx, fresh, g, "a copy is in the place of "+g.Dir); err != nil {
		return m, fmt.Errorf("bind the mission to its workspace: %w", err)
	}
	fresh.Project, err = mv.ChangeLocations(ctx, fresh.Project, func(h *projects.Locations) bool { return MoveLocations(h, m.Binding.Workspace, g) })
	return fresh, err
}

// ownerInPlace says whose the directory is that is where a mission's workspace was: that of
// another project or mission, which was moved there, or a worktree that was made anew. It
// is "" if it can be a copy of the workspace.
func (mv *Mover) ownerInPlace(m *projects.Mission, g projects.Directory) string {
	all, _ := mv.AllProjects()
	for _, p := range all {
		if p.ID != m.Project.ID && g.Repo != nil && p.Locations.CommonIdentity.Is(g.CommonIdentity) {
			return "it belongs to project " + filepath.Base(p.Dir)
		}
		for _, hint := range p.Locations.Workspaces {
			if hint.Identity.Is(g.Identity) && (p.ID != m.Project.ID || hint.Path != g.Dir) {
				return "it was " + hint.Path
			}
		}
	}
	if m.IsWorktreeMadeAnew(g) {
		return "a worktree that was made anew"
	}
	return ""
}

// bind binds a mission to a directory, and says why in its record.
func (mv *Mover) bind(ctx context.Context, m *projects.Mission, g projects.Directory, why string) error {
	m.Binding.Workspace, m.Binding.Identity = g.Dir, g.Identity
	switch {
	case g.Repo == nil:
		m.Binding.CommonDir = ""
	case g.Repo.CommonDir != "": // else it can't be read for the moment
		m.Binding.CommonDir = g.Repo.CommonDir
	}
	if err := mv.snapshots.WriteMetaRecord(ctx, m, why); err != nil {
		return err
	}
	mv.SaveLiveState(m)
	return nil
}
