package missions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// MoveProject rebinds everything of a project that was below one directory to
// another, after the user has moved it.
func (l *Local) MoveProject(ctx context.Context, r MoveProjectRequest) (Project, error) {
	to, err := survey(joinPath(r.Caller.Cwd, r.New))
	if err != nil {
		return Project{}, err
	}
	if to.Repo != nil && to.Repo.CommonDir == "" {
		return Project{}, unreadRepository(to.Repo)
	}
	held, err := lock.Wait(ctx, l.home.path("locks", "projects"), lock.Exclusive, l.self)
	if err != nil {
		return Project{}, busy(err)
	}
	defer held.Release()
	all, _ := l.allProjects()
	p, from, err := projectAt(all, r)
	if err != nil {
		return Project{}, err
	}
	moves, err := l.planMoves(p, from, to.Dir)
	if err != nil {
		return Project{}, err
	}
	if err := l.mayMove(all, p, from, to, moves, r); err != nil {
		return Project{}, err
	}
	for _, move := range moves {
		if err := l.moveMission(ctx, move, from, to.Dir); err != nil {
			return Project{}, err
		}
	}
	if err := l.changeHints(ctx, p, func(h *hints) bool { return h.move(from, to) }); err != nil {
		return Project{}, err
	}
	return l.projectView(p), nil
}

// projectAt finds the project by a path that may not exist any more, or by the
// name of its own directory, which tells apart two that claim the same place.
// It returns the path, too.
func projectAt(all []*project, r MoveProjectRequest) (*project, string, error) {
	path := joinPath(r.Caller.Cwd, r.Old)
	var found []*project
	for _, p := range all {
		if filepath.Base(p.Dir) == r.Old && p.hints.Path != "" {
			return p, p.hints.Path, nil
		}
		if p.hints.claims(path) || p.hints.Path == "" && p.Name == filepath.Base(path) {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return nil, "", Errorf(KindNotFound, "umbra project ls", "no project of Umbra's was in %s", path)
	case 1:
		return found[0], path, nil
	}
	return nil, "", Errorf(KindNotFound, fmt.Sprintf("name the one that was moved: umbra project move %s %s", filepath.Base(found[0].Dir), r.New),
		"%d projects say that they are in %s: %s", len(found), path, projectDirs(found))
}

func projectDirs(list []*project) string {
	var names []string
	for _, p := range list {
		names = append(names, filepath.Base(p.Dir))
	}
	return strings.Join(names, ", ")
}

// claims reports whether the project's workspaces are said to be at path.
func (h *hints) claims(path string) bool {
	if h.Path == path {
		return true
	}
	for _, hint := range h.Places {
		if hint.Path == path {
			return true
		}
	}
	return false
}

// missionMove is a mission and where its workspace is now.
type missionMove struct {
	mission *loaded
	ground  ground
}

// planMoves finds the missions to be rebound. A binding never points at nothing:
// if one of their workspaces is not in the new place, nothing is rebound.
func (l *Local) planMoves(p *project, from, to string) ([]missionMove, error) {
	var moves []missionMove
	all, _ := l.missionsOf(p)
	for _, m := range all {
		if m.bind.Workspace == "" || !within(from, m.bind.Workspace) {
			continue
		}
		g, err := survey(to + strings.TrimPrefix(m.bind.Workspace, from))
		if err != nil {
			return nil, Errorf(KindConflict, "move the workspace of mission "+m.Name+" too, or remove the mission", "mission %s: %w", m.Name, err)
		}
		moves = append(moves, missionMove{m, g})
	}
	return moves, nil
}

// mayMove refuses to rebind a project to a directory that was not moved from
// where the project was: the next restore would take away what is in it. A
// directory keeps its identity when it is moved; one that has another may be a
// copy, and must hold what the project's did.
func (l *Local) mayMove(all []*project, p *project, from string, to ground, moves []missionMove, r MoveProjectRequest) error {
	if p.hints.stillAt(from, to) && claimants(all, from) < 2 {
		return Errorf(KindConflict, "move it first; to begin anew in the other: umbra mission new there", "%s is still there: it was not moved to %s", from, to.Dir)
	}
	for _, g := range append([]ground{to}, grounds(moves)...) {
		if err := l.mayBeRoot(g.Dir, r.Caller.Env["HOME"], false); err != nil {
			return refusedMove(err)
		}
		if other := ownerOf(all, p, from, g); other != "" {
			return Errorf(KindConflict, "umbra project ls", "%s is not where %s was moved to: it belongs to %s", g.Dir, from, other)
		}
	}
	if r.Force {
		return nil
	}
	for _, move := range moves {
		if move.ground.Place == move.mission.bind.Place {
			continue
		}
		found, of, err := l.foundAgain(move)
		if err != nil {
			return err
		}
		if found*2 < of {
			return Errorf(KindConflict, "--force insists; a restore there takes away what is in no snapshot of the mission's",
				"%s is another directory than the workspace of mission %s was, and of %d of its files %d are in it as they were", move.ground.Dir, move.mission.Name, of, found)
		}
	}
	return nil
}

func refusedMove(err error) error {
	var refused *capture.RootError
	if errors.As(err, &refused) {
		return Errorf(KindConflict, "name the directory that was moved", "%w", err)
	}
	return err
}

func grounds(moves []missionMove) []ground {
	var list []ground
	for _, move := range moves {
		list = append(list, move.ground)
	}
	return list
}

// stillAt reports whether the directory that is to have been moved is where it
// was. A link from the old place to the new one is not that.
func (h *hints) stillAt(from string, to ground) bool {
	for _, hint := range h.Places {
		if hint.Path == from {
			return hint.there() && hint.Place != to.Place
		}
	}
	common := placeHint{Path: h.CommonDir, Place: h.Common}
	return h.CommonDir != "" && within(from, h.CommonDir) && common.there() && h.Common != to.Common
}

// there reports whether the directory is where the hint says.
func (h placeHint) there() bool {
	at, err := placeOf(h.Path)
	return err == nil && at == h.Place
}

// claimants counts the projects that say they are at path. Two are one too many:
// moving one of them away is how that is mended.
func claimants(all []*project, path string) int {
	n := 0
	for _, p := range all {
		if p.hints.claims(path) {
			n++
		}
	}
	return n
}

// ownerOf names whose a directory is already, other than the project's that is
// moved from a place; "" if nobody's.
func ownerOf(all []*project, p *project, from string, g ground) string {
	for _, o := range all {
		if o.ID != p.ID && g.Repo != nil && o.hints.Common == g.Common {
			return "project " + filepath.Base(o.Dir)
		}
		for _, hint := range o.hints.Places {
			if hint.Place != g.Place || o.ID == p.ID && within(from, hint.Path) {
				continue
			}
			if o.ID != p.ID || hint.there() && hint.Path != g.Dir {
				return "project " + filepath.Base(o.Dir)
			}
		}
	}
	return ""
}

// mostCompared is how many files of a workspace are looked at to tell whether a
// directory is a copy of it, and mostRead the size up to which they are read.
const (
	mostCompared = 1000
	mostRead     = 1 << 20
)

// foundAgain counts the files of the mission's newest snapshot that are in its
// new workspace as they were, out of those looked at: some from everywhere.
func (l *Local) foundAgain(move missionMove) (found, of int, err error) {
	type file struct {
		path string
		id   gitstore.ID
	}
	store, files := move.mission.project.store, []file{}
	err = store.WalkTree(move.mission.tip.Tree, func(path string, e gitstore.TreeEntry) error {
		if !e.Mode.IsDir() {
			files = append(files, file{path, e.ID})
		}
		return nil
	})
	if err != nil {
		return 0, 0, Errorf(KindDamaged, "umbra doctor", "read the newest snapshot of mission %s: %w", move.mission.Name, err)
	}
	for i := 0; i < len(files); i += 1 + len(files)/mostCompared {
		of++
		if sameFile(filepath.Join(move.ground.Dir, files[i].path), files[i].id) {
			found++
		}
	}
	return found, of, nil
}

// sameFile reports whether a file holds what it did, a large one whether it is
// there at all.
func sameFile(path string, id gitstore.ID) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return err == nil && gitstore.HashObject(gitstore.TypeBlob, []byte(target)) == id
	}
	f, info, err := disk.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info.Size() > mostRead {
		return true
	}
	have, err := gitstore.HashBlob(f, info.Size())
	return err == nil && have == id
}

// move writes the new place of everything that was below from.
func (h *hints) move(from string, to ground) bool {
	moved := func(path string) string {
		if path != "" && within(from, path) {
			return to.Dir + strings.TrimPrefix(path, from)
		}
		return path
	}
	had := h.CommonDir
	h.Path, h.CommonDir = moved(h.Path), moved(h.CommonDir)
	switch {
	case to.Repo != nil && (had == "" || within(from, had)):
		h.CommonDir, h.Common = to.Repo.CommonDir, to.Common
	case to.Repo == nil && had != "" && within(from, had):
		h.CommonDir, h.Common = "", Place{} // it was not moved along
	}
	for i, hint := range h.Places {
		h.Places[i].Path = moved(hint.Path)
		if place, err := placeOf(h.Places[i].Path); err == nil {
			h.Places[i].Place = place
		}
	}
	return true
}

// moveMission rebinds one mission.
func (l *Local) moveMission(ctx context.Context, move missionMove, from, to string) error {
	g := move.ground
	return l.metaLocked(ctx, move.mission, func(m *loaded) error {
		m.bind.Workspace, m.bind.Place, m.bind.CommonDir = g.Dir, g.Place, ""
		if g.Repo != nil {
			m.bind.CommonDir = g.Repo.CommonDir
		}
		if m.bind.Worktree != "" && within(from, m.bind.Worktree) {
			m.bind.Worktree = to + strings.TrimPrefix(m.bind.Worktree, from)
		}
		if err := l.writeMeta(ctx, m, "moved from "+from); err != nil {
			return err
		}
		l.saveLive(m)
		return nil
	})
}
