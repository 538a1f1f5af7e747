package history

import (
	"context"
	"errors"
	"maps"
	slashpath "path"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// holders lists which snapshots of a project hold a path: of every mission, removed ones
// and what only a pin keeps among them. A snapshot that several missions share counts
// for the one that it was taken for.
func (rd *Reader) holders(ctx context.Context, r missions.ForgetRequest) (missions.Holders, error) {
	at, err := rd.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InProject)
	if err != nil {
		return missions.Holders{}, err
	}
	path, err := at.WorkspacePath(r.Caller, r.Path)
	if err != nil {
		return missions.Holders{}, err
	}
	if path == "" {
		return missions.Holders{}, missions.Errorf(missions.KindUsage, "name a file or a directory below "+at.Binding.Workspace, "%s is the whole workspace", r.Path)
	}
	s := &holderSearch{
		project: at.Project, path: slashpath.Join(at.Binding.PathInRepo, path), scopes: map[string]string{},
		seen: map[gitstore.ID]bool{}, holder: map[string]*missions.Holder{}, contents: map[gitstore.ID]bool{},
		found: missions.Holders{Path: path, Project: at.Project.Name, Dir: at.Project.Dir},
	}
	if err := s.searchMissions(ctx, rd); err != nil {
		return missions.Holders{}, err
	}
	for _, h := range s.holder {
		s.found.Missions, s.found.Snapshots = append(s.found.Missions, *h), s.found.Snapshots+h.Snapshots
	}
	slices.SortFunc(s.found.Missions, func(a, b missions.Holder) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	if repo := at.Binding.CommonDir; repo != "" && s.isInRepository(ctx, repo) {
		s.found.Repository = repo
	}
	return s.found, nil
}

// holderSearch looks through a project's snapshots for a path.
type holderSearch struct {
	project  *projects.Project
	path     string            // below the top level of the repository
	scopes   map[string]string // of the missions' workspaces, by mission: their paths below it
	seen     map[gitstore.ID]bool
	holder   map[string]*missions.Holder // by mission
	contents map[gitstore.ID]bool        // what the path was
	found    missions.Holders
}

func (s *holderSearch) searchMissions(ctx context.Context, rd *Reader) error {
	list, problems := rd.ProjectMissions(s.project)
	removed, more := rd.RemovedMissionsIn(s.project)
	addresses.NotifyProblems(ctx, append(problems, more...))
	s.found.Trash = len(removed) > 0
	known := map[string]missions.Holder{}
	for _, m := range append(list, removed...) {
		s.scopes[m.ID] = m.Binding.PathInRepo
		known[m.ID] = missions.Holder{ID: m.ID, Name: m.Name, Removed: m.InTrash, Live: missions.HasAgent(m.Lifecycle)}
	}
	refs, err := s.project.Store.Refs("")
	if err != nil {
		return err
	}
	for _, ref := range refs.Refs {
		kind := ref.Name.Kind()
		if kind != gitstore.RefAgent && kind != gitstore.RefTrashAgent && kind != gitstore.RefPin {
			continue
		}
		newest := kind != gitstore.RefPin
		for snap, err := range s.project.SnapshotCache.WalkHistory(s.project.Store, ref.ID) {
			if err != nil {
				return missions.Errorf(missions.KindDamaged, "umbra doctor", "look for %s: %w", s.path, err)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for _, path := range s.pathsIn(snap.Mission) {
				holds, err := s.look(snap, path, known)
				if err != nil {
					return err
				}
				if newest && holds && !known[ref.Name.Mission()].Removed && !slices.Contains(s.found.CapturedPaths, path) {
					s.found.Captured, s.found.CapturedPaths = true, append(s.found.CapturedPaths, path)
				}
			}
			newest = false
		}
	}
	return nil
}

// pathsIn are what the path is in snapshots of a mission, whose workspace may be another
// directory of the repository. A mission that is not known may have had any of the others.
func (s *holderSearch) pathsIn(mission string) (paths []string) {
	scopes := []string{s.scopes[mission]}
	if _, known := s.scopes[mission]; !known {
		scopes = slices.Compact(slices.Sorted(maps.Values(s.scopes)))
	}
	for _, scope := range scopes {
		if scope == "" {
			paths = append(paths, s.path)
		} else if path, below := strings.CutPrefix(s.path, scope+"/"); below {
			paths = append(paths, path)
		} else if home.IsWithin(s.path, scope) {
			paths = append(paths, "") // all of the workspace
		}
	}
	return paths
}

// look counts a snapshot if it holds a path and was not looked at before.
func (s *holderSearch) look(snap *gitstore.Snapshot, path string, known map[string]missions.Holder) (holds bool, err error) {
	entry := gitstore.TreeEntry{ID: snap.Tree}
	if path != "" {
		entry, err = s.project.Store.Lookup(snap.Tree, path)
	}
	if errors.Is(err, gitstore.ErrNoEntry) {
		return false, nil
	}
	if err != nil || s.seen[snap.ID] {
		return err == nil, err
	}
	s.seen[snap.ID], s.contents[entry.ID] = true, true
	h := s.holder[snap.Mission]
	if h == nil {
		first := known[snap.Mission]
		if first.ID == "" {
			first = missions.Holder{ID: snap.Mission, Removed: true}
		}
		h = &first
		s.holder[snap.Mission] = h
	}
	h.Snapshots++
	id := snap.ID.String()
	if h.Newest == "" || snap.At.After(h.NewestAt) {
		h.Newest, h.NewestAt = id, snap.At
	}
	if h.Oldest == "" || !snap.At.After(h.OldestAt) { // a history is walked from its newest snapshot
		h.Oldest, h.OldestAt = id, snap.At
	}
	return true, nil
}

// isInRepository reports whether the user's own repository has one of the contents.
func (s *holderSearch) isInRepository(ctx context.Context, repo string) bool {
	for id := range s.contents {
		if _, err := git.Run(ctx, git.Command{GitDir: repo, Args: []string{"cat-file", "-e", id.String()}}); err == nil {
			return true
		}
	}
	return false
}
