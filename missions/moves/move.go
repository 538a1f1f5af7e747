package moves

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// MoveProject rebinds a project after the user has moved its directory: all that was
// below the old directory is below the new one.
func (mv *Mover) MoveProject(ctx context.Context, r missions.MoveProjectRequest) (missions.Project, error) {
	to, err := projects.InspectDirectory(projects.AbsolutePath(r.Caller.Cwd, r.New))
	if err != nil {
		return missions.Project{}, err
	}
	if to.Repo != nil && to.Repo.CommonDir == "" {
		return missions.Project{}, projects.UnreadRepositoryError(to.Repo)
	}
	held, err := lock.Wait(ctx, mv.Home.Path("locks", "projects"), lock.Exclusive, mv.Self)
	if err != nil {
		return missions.Project{}, home.LockError(err)
	}
	defer held.Release()
	all, _ := mv.AllProjects()
	p, from, err := findMovedProject(all, r)
	if err != nil {
		return missions.Project{}, err
	}
	moves, err := mv.planMoves(p, from, to.Dir)
	if err != nil {
		return missions.Project{}, err
	}
	if err := mv.checkMove(all, p, from, to, moves, r); err != nil {
		return missions.Project{}, err
	}
	moved, err := mv.moveAll(ctx, p, from, to, moves)
	if err != nil {
		return missions.Project{}, err
	}
	return mv.presence.ProjectView(moved), nil
}

// moveAll rebinds a project and its missions, and returns the project as it is then.
func (mv *Mover) moveAll(ctx context.Context, p *projects.Project, from string, to projects.Directory, moves []MissionMove) (*projects.Project, error) {
	mv.repairWorktrees(ctx, p, from, to)
	for _, move := range moves {
		if err := mv.MoveMission(ctx, move, from, to.Dir); err != nil {
			return p, err
		}
	}
	if err := mv.moveRepository(ctx, p, from, to.Dir, moves); err != nil {
		return p, err
	}
	return mv.ChangeLocations(ctx, p, func(h *projects.Locations) bool { return MoveLocations(h, from, to) })
}

// findMovedProject finds the project by a path that may be gone, and returns the path
// too. If two projects claim a path, the name of the project's directory in Umbra's
// home tells them apart.
func findMovedProject(all []*projects.Project, r missions.MoveProjectRequest) (*projects.Project, string, error) {
	path := projects.AbsolutePath(r.Caller.Cwd, r.Old)
	var found []*projects.Project
	for _, p := range all {
		if filepath.Base(p.Dir) == r.Old && p.Locations.Path != "" {
			return p, p.Locations.Path, nil
		}
		if claimsPath(&p.Locations, path) || p.Locations.Path == "" && p.Name == filepath.Base(path) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return nil, "", missions.Errorf(missions.KindNotFound, "umbra project ls", "no project of Umbra's was in %s", path)
	case 1:
		return found[0], path, nil
	}
	return nil, "", missions.Errorf(missions.KindNotFound,
		fmt.Sprintf("name the one that was moved: umbra project move %s %s", filepath.Base(found[0].Dir), r.New),
		"%d projects say that they are in %s: %s", len(found), path, ProjectDirNames(found))
}

func ProjectDirNames(list []*projects.Project) string {
	var names []string
	for _, p := range list {
		names = append(names, filepath.Base(p.Dir))
	}
	return strings.Join(names, ", ")
}

// claimsPath reports whether a project's workspaces are recorded at path.
func claimsPath(h *projects.Locations, path string) bool {
	if h.Path == path {
		return true
	}
	for _, hint := range h.Workspaces {
		if hint.Path == path {
			return true
		}
	}
	return false
}

// MissionMove is a mission and where its workspace is now.
type MissionMove struct {
	Mission   *projects.Mission
	Directory projects.Directory
}

// planMoves finds the missions to rebind. A binding must not point at nothing: if a
// workspace is not at the new place, no mission is rebound.
func (mv *Mover) planMoves(p *projects.Project, from, to string) ([]MissionMove, error) {
	var moves []MissionMove
	all, _ := mv.ProjectMissions(p)
	for _, m := range all {
		if m.Binding.Workspace == "" || !home.IsWithin(from, m.Binding.Workspace) {
			continue
		}
		g, err := projects.InspectDirectory(to + strings.TrimPrefix(m.Binding.Workspace, from))
		if err != nil {
			return nil, missions.Errorf(missions.KindConflict, "move the workspace of mission "+m.Name+" too, or remove the mission", "mission %s: %w", m.Name, err)
		}
		moves = append(moves, MissionMove{m, g})
	}
	return moves, nil
}

// checkMove refuses to rebind a project to a directory that is not the one that was
// moved: the next restore would take away what is in it. A moved directory keeps its
// identity. A directory with another identity may be a copy, and must hold what the
// project's directory did.
func (mv *Mover) checkMove(
	all []*projects.Project, p *projects.Project, from string, to projects.Directory, moves []MissionMove, r missions.MoveProjectRequest,
) error {
	if isProjectStillAt(&p.Locations, from, to) && countClaimants(all, from) < 2 {
		return missions.Errorf(missions.KindConflict,
			"move it first; to begin anew in the other: umbra mission new there",
			"%s is still there: it was not moved to %s", from, to.Dir)
	}
	for _, g := range append([]projects.Directory{to}, directoriesOf(moves)...) {
		if err := mv.agents.CheckRoot(g.Dir, r.Caller.Env["HOME"], false); err != nil {
			return refusedMoveError(err)
		}
		if other := otherOwner(all, p, from, g); other != "" {
			return missions.Errorf(missions.KindConflict, "umbra project ls", "%s is not where %s was moved to: it belongs to %s", g.Dir, from, other)
		}
	}
	if r.Force {
		return nil
	}
	for _, move := range moves {
		if move.Mission.Binding.Identity.Is(move.Directory.Identity) {
			continue
		}
		like, err := move.Mission.Resembles(move.Directory)
		if err != nil {
			return err
		}
		if !like {
			return unlikeError(move)
		}
	}
	return nil
}

// unlikeError is the refusal of a directory that does not hold what the mission's workspace
// did.
func unlikeError(move MissionMove) error {
	found, of, err := move.Mission.CountUnchangedFiles(move.Directory.Dir)
	if err != nil {
		return err
	}
	lacks := fmt.Sprintf("of %d of its files %d are in it as they were", of, found)
	if found*2 >= of {
		lacks = "no commit that its HEAD was at is in the repository there"
	}
	return missions.Errorf(missions.KindConflict, "--force insists; a restore there takes away what is in no snapshot of the mission's",
		"%s is another directory than the workspace of mission %s was, and %s", move.Directory.Dir, move.Mission.Name, lacks)
}

func refusedMoveError(err error) error {
	var refused *capture.RootError
	if errors.As(err, &refused) {
		return missions.Errorf(missions.KindConflict, "name the directory that was moved", "%w", err)
	}
	return err
}

func directoriesOf(moves []MissionMove) []projects.Directory {
	var list []projects.Directory
	for _, move := range moves {
		list = append(list, move.Directory)
	}
	return list
}

// isProjectStillAt reports whether the directory is still at the old place. A link from
// the old place to the new one does not count.
func isProjectStillAt(h *projects.Locations, from string, to projects.Directory) bool {
	for _, hint := range h.Workspaces {
		if hint.Path == from {
			return IsDirectoryThere(hint) && !hint.Identity.Is(to.Identity)
		}
	}
	common := projects.Location{Path: h.CommonDir, Identity: h.CommonIdentity}
	return h.CommonDir != "" && home.IsWithin(from, h.CommonDir) && IsDirectoryThere(common) && !h.CommonIdentity.Is(to.CommonIdentity)
}

// IsDirectoryThere reports whether the directory is where the hint says.
func IsDirectoryThere(h projects.Location) bool {
	at, err := projects.DirectoryIdentity(h.Path)
	return err == nil && h.Identity.Is(at)
}

// countClaimants counts the projects that are recorded at path. Two are one too many,
// and the user mends that by moving one of them.
func countClaimants(all []*projects.Project, path string) int {
	n := 0
	for _, p := range all {
		if claimsPath(&p.Locations, path) {
			n++
		}
	}
	return n
}

// otherOwner names another project that a directory belongs to, "" if there is none.
func otherOwner(all []*projects.Project, p *projects.Project, from string, g projects.Directory) string {
	for _, o := range all {
		if o.ID != p.ID && g.Repo != nil && o.Locations.CommonIdentity.Is(g.CommonIdentity) {
			return "project " + filepath.Base(o.Dir)
		}
		for _, hint := range o.Locations.Workspaces {
			if !hint.Identity.Is(g.Identity) || o.ID == p.ID && home.IsWithin(from, hint.Path) {
				continue
			}
			if o.ID != p.ID || IsDirectoryThere(hint) && hint.Path != g.Dir {
				return "project " + filepath.Base(o.Dir)
			}
		}
	}
	return ""
}

// MoveLocations changes the places below from to those below the new directory.
func MoveLocations(h *projects.Locations, from string, to projects.Directory) bool {
	moved := func(path string) string { return movedPath(path, from, to.Dir) }
	had := h.CommonDir
	h.Path, h.CommonDir = moved(h.Path), moved(h.CommonDir)
	switch {
	case to.Repo != nil && (had == "" || had == to.Repo.CommonDir || home.IsWithin(from, had)):
		h.CommonDir, h.CommonIdentity = to.Repo.CommonDir, to.CommonIdentity
	case to.Repo == nil && had != "" && home.IsWithin(from, had):
		h.CommonDir, h.CommonIdentity = "", home.DirectoryIdentity{} // it was not moved along
	}
	for i, hint := range h.Workspaces {
		if !home.IsWithin(from, hint.Path) {
			continue
		}
		h.Workspaces[i].Path = moved(hint.Path)
		if place, err := projects.DirectoryIdentity(h.Workspaces[i].Path); err == nil {
			h.Workspaces[i].Identity = place
		}
	}
	return true
}

// MoveMission rebinds one mission.
func (mv *Mover) MoveMission(ctx context.Context, move MissionMove, from, to string) error {
	return mv.WithRecoveredMission(ctx, move.Mission, func(m *projects.Mission) error {
		g := move.Directory
		if again, err := projects.InspectDirectory(g.Dir); err == nil {
			g = again // its repository may have been repaired
		}
		m.Binding = movedBinding(m.Binding, from, to)
		return mv.bind(ctx, m, g, "moved from "+from)
	})
}
