package history

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"github.com/umbra-vcs/umbra/missions/remotes"
)

// holders lists which snapshots of a project hold a path: of every mission, removed ones,
// those that were fetched, and what only a pin keeps among them. A snapshot that several
// missions share counts for the one that it was taken for.
func (rd *Reader) holders(ctx context.Context, r missions.ForgetRequest) (missions.Holders, error) {
	reach := addresses.InProject
	if _, _, fetched := missions.SplitFetched(r.Mission); fetched {
		reach = addresses.InAnyProject // which is for what only reads
	}
	at, err := rd.addresses.FindMission(ctx, r.Caller, r.Mission, reach)
	if err != nil {
		return missions.Holders{}, err
	}
	path, err := at.WorkspacePath(r.Caller, r.Path)
	if err != nil {
		return missions.Holders{}, err
	}
	if path == "" {
		top := cmp.Or(at.Binding.Workspace, at.Project.Locations.Path)
		return missions.Holders{}, missions.Errorf(missions.KindUsage, "name a file or a directory below "+top, "%s is the whole workspace", r.Path)
	}
	s := &holderSearch{
		project: at.Project, path: slashpath.Join(at.Binding.PathInRepo, path), scopes: map[string]string{},
		walked: map[gitstore.ID]bool{}, parents: map[gitstore.ID][]gitstore.ID{},
		unread: map[gitstore.ID]error{}, torn: map[gitstore.ID]error{}, gaps: map[gitstore.ID]bool{},
		paths: map[gitstore.ID][]string{}, holds: map[gitstore.ID]bool{}, holder: map[string]*missions.Holder{}, own: map[string]bool{},
		contents: map[gitstore.ID]bool{}, remotes: map[string][]string{}, found: missions.Holders{Path: path, Project: at.Project.Name, Dir: at.Project.Dir},
	}
	if err := s.searchMissions(ctx, rd); err != nil {
		return missions.Holders{}, err
	}
	for id := range s.holder { // those that are gone too, which forks and pins keep
		s.own[id] = true
	}
	leads := func(mission string, pushed gitstore.ID) bool { return s.leads(ctx, mission, pushed) }
	if s.found.Pushed, err = remotes.PushedTo(at.Project, leads, s.remotes); err != nil {
		return missions.Holders{}, err
	}
	if err := ctx.Err(); err != nil {
		return missions.Holders{}, err
	}
	for _, h := range s.holder { // what was pushed of a mission that is gone is among them by now
		s.found.Missions, s.found.Snapshots = append(s.found.Missions, *h), s.found.Snapshots+h.Snapshots
	}
	slices.SortFunc(s.found.Missions, func(a, b missions.Holder) int { return strings.Compare(a.Name+a.ID, b.Name+b.ID) })
	if repo := at.Binding.CommonDir; repo != "" && home.IsThere(repo) && len(s.contents) > 0 {
		has, err := s.isInRepository(ctx, repo)
		if err != nil {
			return missions.Holders{}, fmt.Errorf("look for %s in %s: %w", s.path, repo, err)
		}
		if has {
			s.found.Repository = repo
		}
	}
	return s.found, nil
}

// holderSearch looks through a project's snapshots for a path.
type holderSearch struct {
	project  *projects.Project
	path     string            // below the top level of the repository
	scopes   map[string]string // of the missions' workspaces, by mission: their paths below it
	walked   map[gitstore.ID]bool
	parents  map[gitstore.ID][]gitstore.ID
	unread   map[gitstore.ID]error       // of it, or of what is before it
	torn     map[gitstore.ID]error       // of it alone
	gaps     map[gitstore.ID]bool        // before those something is gone
	paths    map[gitstore.ID][]string    // what the path is in those that hold it
	holds    map[gitstore.ID]bool        // those that hold it, or come after one that does
	holder   map[string]*missions.Holder // by mission
	contents map[gitstore.ID]bool        // what the path was
	own      map[string]bool             // missions of this home that lead to one, as a fork may by what it inherited
	remotes  map[string][]string         // missions that were fetched and lead to one, by remote
	found    missions.Holders
}

func (s *holderSearch) searchMissions(ctx context.Context, rd *Reader) error {
	list, problems := rd.ProjectMissions(s.project)
	removed, more := rd.RemovedMissionsIn(s.project)
	fetched, foreign := rd.FetchedMissions(s.project)
	addresses.NotifyProblems(ctx, slices.Concat(problems, more, foreign))
	s.found.Trash = removedNames(removed)
	known := map[string]missions.Holder{}
	for _, m := range append(list, removed...) {
		s.scopes[m.ID] = m.Binding.PathInRepo
		known[m.ID] = missions.Holder{ID: m.ID, Name: m.Name, Removed: m.InTrash, Live: missions.HasAgent(m.Lifecycle)}
	}
	for _, m := range fetched {
		if known[m.ID].ID == "" {
			known[m.ID] = missions.Holder{ID: m.ID, Name: m.Name, Remote: m.Remote}
		}
	}
	refs, err := s.project.Store.Refs("")
	if err != nil {
		return err
	}
	if err := s.project.Store.Reread(); err != nil {
		return err
	}
	for _, ref := range refs.Refs {
		switch ref.Name.Kind() {
		case gitstore.RefAgent, gitstore.RefTrashAgent, gitstore.RefFetchedAgent, gitstore.RefPin:
			if err := s.searchHistory(ctx, ref, known); err != nil {
				return err
			}
		}
	}
	return nil
}

// noteUnread says that what came from elsewhere is damaged: what is own is searched all the
// same.
func (s *holderSearch) noteUnread(ctx context.Context, came string, err error) {
	missions.Notify(ctx, missions.Notice{Text: fmt.Sprintf("what was %s can't be looked through whole (umbra doctor): %v", came, err)})
}

// readsLine is what is wrong with a snapshot or one before it, by first parents: the mission's
// own ones, which doctor mends.
func (s *holderSearch) readsLine(tip gitstore.ID) error {
	for id := tip; ; id = s.parents[id][0] {
		if s.torn[id] != nil || len(s.parents[id]) == 0 {
			return s.torn[id]
		}
	}
}

// searchHistory looks through the snapshots that a ref leads to, and notes whose history holds
// the path.
func (s *holderSearch) searchHistory(ctx context.Context, ref gitstore.Ref, known map[string]missions.Holder) error {
	remote := ref.Name.Remote()
	own := remote == "" && ref.Name.Kind() != gitstore.RefPin
	switch err := s.walk(ctx, ref.ID, known); {
	case err == nil:
	case ctx.Err() != nil:
		return err
	case remote != "":
		s.noteUnread(ctx, "fetched from "+remote, err)
	case s.readsLine(ref.ID) != nil:
		return err
	default:
		s.noteUnread(ctx, "merged or promoted", err)
	}
	if own && !known[ref.Name.Mission()].Removed { // the next snapshot will hold what the newest one does
		for _, path := range s.paths[ref.ID] {
			if !slices.Contains(s.found.CapturedPaths, path) {
				s.found.Captured, s.found.CapturedPaths = true, append(s.found.CapturedPaths, path)
			}
		}
	}
	switch {
	case !s.holds[ref.ID]:
	case own:
		s.own[ref.Name.Mission()] = true
	case remote != "":
		s.remotes[remote] = append(s.remotes[remote], ref.Name.Mission())
	}
	return nil
}

// walk looks at a snapshot and at all before it, by every parent, as they leave with it: a
// promotion has one in the history of a fork. Of what is before it, each learns whether
// something holds the path, and whether something could not be read, which ends no search.
func (s *holderSearch) walk(ctx context.Context, tip gitstore.ID, known map[string]missions.Holder) error {
	todo := []gitstore.ID{tip}
	for len(todo) > 0 {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		id := todo[len(todo)-1]
		if s.walked[id] {
			for _, parent := range s.parents[id] {
				s.holds[id], s.unread[id] = s.holds[id] || s.holds[parent], cmp.Or(s.unread[id], s.unread[parent])
				s.gaps[id] = s.gaps[id] || s.gaps[parent]
			}
			todo = todo[:len(todo)-1]
			continue
		}
		s.walked[id] = true
		snap, err := s.project.SnapshotCache.ReadSnapshot(s.project.Store, id)
		if err != nil {
			err = missions.Errorf(missions.KindDamaged, "umbra doctor", "look for %s: %w", s.path, err)
		} else if s.gaps[id] = !snap.Lost.IsZero() || snap.Mission == ""; snap.Mission != "" { // no commit of something else
			s.parents[id] = snap.Parents
			err = s.look(snap, known)
		}
		s.unread[id], s.torn[id] = err, err
		for _, parent := range slices.Backward(s.parents[id]) { // the first one is gone through first
			if !s.walked[parent] {
				todo = append(todo, parent)
			}
		}
	}
	return s.unread[tip]
}

// leads reports whether a snapshot that a remote has of a mission leads to the path. Where the
// snapshot can't be followed to its beginning here, it does if the mission's history does.
func (s *holderSearch) leads(ctx context.Context, mission string, pushed gitstore.ID) bool {
	err := s.walk(ctx, pushed, map[string]missions.Holder{})
	return s.holds[pushed] || s.own[mission] && (err != nil || s.gaps[pushed])
}

// pathsIn are what the path is in snapshots of a mission, whose workspace may be another
// directory of the repository. A mission that is not known, or was fetched, may have had any
// of the others, or all of the repository.
func (s *holderSearch) pathsIn(mission string) (paths []string) {
	scopes := []string{s.scopes[mission]}
	if _, known := s.scopes[mission]; !known {
		scopes = slices.Compact(slices.Sorted(maps.Values(s.scopes)))
		if !slices.Contains(scopes, "") {
			scopes = append(scopes, "")
		}
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

// look notes by which paths a snapshot holds the path, and counts it.
func (s *holderSearch) look(snap *gitstore.Snapshot, known map[string]missions.Holder) (err error) {
	for _, path := range s.pathsIn(snap.Mission) {
		entry := gitstore.TreeEntry{ID: snap.Tree}
		if path != "" {
			entry, err = s.project.Store.Lookup(snap.Tree, path)
		}
		if errors.Is(err, gitstore.ErrNoEntry) {
			continue
		}
		if err != nil {
			return err
		}
		if path != "" && entry.Mode.IsDir() {
			path += "/"
		}
		s.paths[snap.ID], s.contents[entry.ID] = append(s.paths[snap.ID], path), true
	}
	if len(s.paths[snap.ID]) > 0 {
		s.holds[snap.ID] = true
		s.count(snap, known)
	}
	return nil
}

// count notes a snapshot that holds the path for its mission.
func (s *holderSearch) count(snap *gitstore.Snapshot, known map[string]missions.Holder) {
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
}

// removedNames are what missions in the trash are asked for by: names, or ids where
// several have one name.
func removedNames(removed []*projects.Mission) (names []string) {
	for _, m := range removed {
		if slices.ContainsFunc(removed, func(o *projects.Mission) bool { return o != m && o.Name == m.Name }) {
			names = append(names, m.ID)
		} else {
			names = append(names, m.Name)
		}
	}
	return names
}

// isInRepository reports whether the user's own repository has one of the contents. None
// is fetched that a partial clone lacks.
func (s *holderSearch) isInRepository(ctx context.Context, repo string) (bool, error) {
	var ids bytes.Buffer
	for id := range s.contents {
		ids.WriteString(id.String() + "\n")
	}
	out, err := git.Run(ctx, git.Command{
		GitDir: repo, Env: []string{"GIT_NO_LAZY_FETCH=1"}, Stdin: &ids, Args: []string{"cat-file", "--batch-check"},
	})
	for line := range strings.Lines(string(out)) {
		if !strings.HasSuffix(line, " missing\n") {
			return true, nil
		}
	}
	return false, err
}
