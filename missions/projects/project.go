package projects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// locationsFormat is the version of a project's hints.
const locationsFormat = 1

// Project is an open project: its shadow repository and where it is found. Its
// identity is its UUID; paths and inodes are hints that can be rebound.
type Project struct {
	ID            string
	Dir           string // $UMBRA_HOME/projects/<name>-<short>
	Name          string
	Store         *gitstore.Store
	SnapshotCache *snapshotCache
	Locations     Locations
}

// Locations say where on this machine a project's workspaces are.
type Locations struct {
	Format         int               `json:"format"`
	ID             string            `json:"id"`
	Name           string            `json:"name"`
	Path           string            `json:"path"` // the Git top level, or the directory
	CommonDir      string            `json:"git_common_dir,omitempty"`
	CommonIdentity home.FileIdentity `json:"git_common_place,omitzero"`
	Workspaces     []Location        `json:"workspaces"`
}

// Location is a directory that belongs to the project.
type Location struct {
	Path     string            `json:"path"`
	Identity home.FileIdentity `json:"place"`
}

const LocationsFile = "project.json"

func (p *Project) ShadowRepo() string { return filepath.Join(p.Dir, "shadow.git") }

// Directory is what a directory is: where it is really, and whose repository it
// is in.
type Directory struct {
	Dir            string // resolved, absolute
	Identity       home.FileIdentity
	Repo           *usergit.Repository // nil without Git
	CommonIdentity home.FileIdentity   // of the repository's common directory
	Top            string              // the Git top level, else Dir
}

// InspectDirectory looks at a directory. The error is the user's: missing, not a
// directory, not readable.
func InspectDirectory(dir string) (Directory, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Directory{}, missions.Errorf(missions.KindNotFound, "name a directory that is there", "%s: %w", dir, userfile.Reason(err))
	}
	place, err := DirectoryIdentity(resolved)
	if err != nil {
		return Directory{}, err
	}
	g := Directory{Dir: resolved, Identity: place, Top: resolved}
	repo, err := usergit.Discover(resolved)
	switch {
	case errors.Is(err, usergit.ErrNoRepository):
	case err != nil:
		return Directory{}, missions.Errorf(missions.KindFailed, "", "look for the Git repository of %s: %w", dir, err)
	case repo.Bare || repo.TopLevel == "":
	case repo.CommonDir == "":
		g.Repo, g.Top = repo, repo.TopLevel
	default:
		if g.CommonIdentity, err = DirectoryIdentity(repo.CommonDir); err != nil {
			return Directory{}, err
		}
		g.Repo, g.Top = repo, repo.TopLevel
	}
	return g, nil
}

// DirectoryIdentity identifies a directory.
func DirectoryIdentity(dir string) (home.FileIdentity, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return home.FileIdentity{}, missions.Errorf(missions.KindNotFound, "", "%s: %w", dir, userfile.Reason(err))
	}
	if !info.IsDir() {
		return home.FileIdentity{}, missions.Errorf(missions.KindUsage, "name a directory", "%s is not a directory", dir)
	}
	return home.IdentityOf(info), nil
}

// AllProjects opens every project of the home. One that is damaged is
// reported, not returned, and hides no other.
func (d *Desk) AllProjects() ([]*Project, []missions.Problem) {
	entries, err := os.ReadDir(d.Home.ProjectsDir())
	if err != nil {
		return nil, []missions.Problem{{Message: fmt.Sprintf("read %s: %v", d.Home.ProjectsDir(), userfile.Reason(err)), ProjectsUnlisted: !errors.Is(err, fs.ErrNotExist)}}
	}
	var found []*Project
	var problems []missions.Problem
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		p, err := d.OpenProject(filepath.Join(d.Home.ProjectsDir(), e.Name()))
		if err != nil {
			problems = append(problems, missions.Problem{Invariant: "I1", Project: e.Name(), Message: err.Error(), Fix: "umbra doctor"})
			continue
		}
		found = append(found, p)
	}
	return found, problems
}

// UnopenedProject is a project that can't be opened, with what its hints say.
func (d *Desk) UnopenedProject(name string) *Project {
	dir := filepath.Join(d.Home.ProjectsDir(), name)
	h, _ := ReadLocations(dir)
	return &Project{ID: h.ID, Dir: dir, Name: name, Locations: h}
}

// OpenProject opens the project kept in dir. Its store is opened once a process,
// and then what a kill left behind in it is repaired; the hints are read afresh,
// so that every caller has its own.
func (d *Desk) OpenProject(dir string) (*Project, error) {
	store, err := d.openStore(dir)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "project %s: %w", filepath.Base(dir), err)
	}
	h, err := ReadLocations(dir)
	if err != nil || h.ID != store.ProjectID() {
		h = d.recoverLocations(dir, store)
	}
	return &Project{ID: store.ProjectID(), Dir: dir, Name: h.Name, Store: store, SnapshotCache: d.snapshotCache, Locations: h}, nil
}

// projectStore is a project's store, opened when it is first needed. Opening one
// may take long, and holds up no other project.
type projectStore struct {
	Mu    sync.Mutex
	store *gitstore.Store // nil while it could not be opened
}

func (o *projectStore) close() error {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	if o.store == nil {
		return nil
	}
	return o.store.Close()
}

func (d *Desk) openStore(dir string) (*gitstore.Store, error) {
	d.mu.Lock()
	open := d.ProjectStores[dir]
	if open == nil {
		open = &projectStore{}
		d.ProjectStores[dir] = open
	}
	d.mu.Unlock()
	open.Mu.Lock()
	defer open.Mu.Unlock()
	if open.store != nil {
		return open.store, nil
	}
	store, err := gitstore.Open(filepath.Join(dir, "shadow.git"))
	if err != nil {
		return nil, err
	}
	repaired, err := store.RepairRecords(context.Background())
	if err != nil {
		d.Logger.Warn("repair the records refs", "project", filepath.Base(dir), "error", err) // doctor says it too
	}
	for _, r := range repaired {
		d.Logger.Debug("repaired a records ref", "project", filepath.Base(dir), "ref", r.Ref, "was", r.Was, "now", r.Now)
	}
	open.store = store
	return store, nil
}

// recoverLocations makes lost hints again from what the missions' records say of
// this machine. They are written back by whoever changes them next.
func (d *Desk) recoverLocations(dir string, store *gitstore.Store) Locations {
	name, _, _ := cutLast(filepath.Base(dir), "-")
	p := &Project{ID: store.ProjectID(), Dir: dir, Name: name, Store: store, SnapshotCache: d.snapshotCache}
	p.Locations = Locations{Format: locationsFormat, ID: p.ID, Name: name}
	all, _ := d.ProjectMissions(p)
	for _, m := range all {
		if m.Binding.Workspace == "" {
			continue
		}
		p.Locations.addWorkspace(m.Binding.Workspace, m.Binding.Identity)
		if top, ok := strings.CutSuffix(m.Binding.Workspace, "/"+m.Binding.PathInRepo); !m.Binding.MadeByUmbra && p.Locations.Path == "" && (ok || m.Binding.PathInRepo == "") {
			p.Locations.Path = top
		}
		if p.Locations.CommonDir == "" && m.Binding.CommonDir != "" {
			if common, err := DirectoryIdentity(m.Binding.CommonDir); err == nil {
				p.Locations.CommonDir, p.Locations.CommonIdentity = m.Binding.CommonDir, common
			}
		}
	}
	return p.Locations
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func ReadLocations(dir string) (Locations, error) {
	var h Locations
	p, err := disk.ReadFile(filepath.Join(dir, LocationsFile))
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(p, &h); err != nil {
		return h, fmt.Errorf("%s: %w", LocationsFile, err)
	}
	return h, nil
}

func (p *Project) SaveLocations() error {
	b, err := json.MarshalIndent(p.Locations, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteBelow(p.Dir, filepath.Join(p.Dir, LocationsFile), 0o600, append(b, '\n'))
}

// DirectoryFit reports how well the project fits a directory: the length of the path
// that matches, or -1. A shared Git common directory fits best of all.
func (p *Project) DirectoryFit(g Directory) int {
	if g.Repo != nil && p.Locations.CommonIdentity == g.CommonIdentity && p.Locations.CommonIdentity != (home.FileIdentity{}) {
		return 1 << 30
	}
	best := -1
	for _, h := range p.Locations.Workspaces {
		if home.IsWithin(h.Path, g.Dir) && (g.Repo == nil || len(h.Path) > len(g.Top)) {
			best = max(best, len(h.Path))
		}
		if h.Identity == g.Identity {
			best = max(best, len(g.Dir))
		}
	}
	return best
}

// FindProject finds the project of a directory, or nil. One that can't be opened
// is not one that does not exist (H3).
func (d *Desk) FindProject(g Directory) (*Project, error) {
	all, problems := d.AllProjects()
	var found *Project
	best := -1
	for _, p := range all {
		if fit := p.DirectoryFit(g); fit > best {
			found, best = p, fit
		}
	}
	for _, problem := range problems {
		if problem.ProjectsUnlisted {
			return nil, missions.Errorf(missions.KindFailed, "try again; umbra doctor looks at the home", "whether %s belongs to a project can't be told: %s", g.Dir, problem.Message)
		}
		if problem.Project != "" && d.UnopenedProject(problem.Project).DirectoryFit(g) > best {
			return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "the project of %s can't be opened: %s", g.Dir, problem.Message)
		}
	}
	return found, nil
}

var UnfitNameChars = missions.LazyPattern(`[^a-z0-9._-]+`)

// createProject makes the project of a directory. The caller holds the home's
// project creation lock, so that two commands make one project.
func (d *Desk) createProject(ctx context.Context, g Directory) (*Project, error) {
	if g.Repo != nil && g.Repo.CommonDir == "" && !g.Repo.LeadsNowhere() {
		return nil, UnreadRepositoryError(g.Repo) // its project may be there already
	}
	id := d.NewID()
	name := strings.Trim(UnfitNameChars().ReplaceAllString(strings.ToLower(filepath.Base(g.Top)), "-"), "-._")
	if name == "" {
		name = "project"
	}
	if len(name) > 40 {
		name = name[:40]
	}
	p := &Project{ID: id, Name: name, Locations: Locations{Format: locationsFormat, ID: id, Name: name, Path: g.Top}}
	if g.Repo != nil {
		p.Locations.CommonDir, p.Locations.CommonIdentity = g.Repo.CommonDir, g.CommonIdentity
	}
	p.Locations.addWorkspace(g.Dir, g.Identity)
	dir := filepath.Join(d.Home.ProjectsDir(), name+"-"+id[:8])
	if err := d.WriteProject(ctx, p, dir); err != nil {
		return nil, fmt.Errorf("make the project: %w", err)
	}
	return d.OpenProject(dir)
}

// WriteProject makes a project under another name, so that it appears whole.
func (d *Desk) WriteProject(ctx context.Context, p *Project, dir string) (err error) {
	old, err := filepath.Glob(d.Home.ProjectsDir() + "/" + home.UnfinishedProjectPrefix + "*")
	if err != nil {
		return err
	}
	for _, left := range old { // by a process that died: this one holds the lock
		if err := os.RemoveAll(left); err != nil {
			return err
		}
	}
	p.Dir = filepath.Join(d.Home.ProjectsDir(), home.UnfinishedProjectPrefix+p.ID)
	if err := disk.MakeDirs(d.Home.Dir, p.Dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(p.Dir))
		}
	}()
	store, err := gitstore.Create(ctx, p.ShadowRepo(), gitstore.CreateOptions{ProjectID: p.ID})
	if err != nil {
		return err
	}
	failpoint.Hit("project.store")
	if err := errors.Join(store.Close(), p.SaveLocations()); err != nil {
		return err
	}
	return journal.MoveDirectory(p.Dir, dir)
}

// FindOrCreateProject finds the project of a directory, or makes it.
func (d *Desk) FindOrCreateProject(ctx context.Context, g Directory) (*Project, error) {
	if p, err := d.FindProject(g); p != nil || err != nil {
		return p, err
	}
	held, err := lock.Wait(ctx, d.Home.Path("locks", "projects"), lock.Exclusive, d.Self)
	if err != nil {
		return nil, home.LockError(err)
	}
	defer held.Release()
	if p, err := d.FindProject(g); p != nil || err != nil {
		return p, err
	}
	return d.createProject(ctx, g)
}

// RemoveEmptyProject takes away a project whose first mission could not be made. One
// that somebody else is about to use stays, and whoever fails last removes it.
func (d *Desk) RemoveEmptyProject(p *Project) error {
	if !d.isEmptyProject(p) {
		return nil
	}
	projects, err := lock.Try(d.Home.Path("locks", "projects"), lock.Exclusive, d.Self)
	if err != nil {
		return nil
	}
	defer projects.Release()
	whole, err := lock.Try(lock.ProjectFile(d.Home.Dir, p.ID), lock.Exclusive, d.Self)
	if err != nil {
		return nil
	}
	defer whole.Release()
	if !d.isEmptyProject(p) {
		return nil
	}
	unfinished := filepath.Join(d.Home.ProjectsDir(), home.UnfinishedProjectPrefix+p.ID)
	if err := os.Rename(p.Dir, unfinished); err != nil {
		return fmt.Errorf("take the empty project away: %w", err)
	}
	d.mu.Lock()
	open := d.ProjectStores[p.Dir]
	delete(d.ProjectStores, p.Dir)
	d.mu.Unlock()
	if open != nil {
		err = open.close()
	}
	if err := errors.Join(err, os.RemoveAll(unfinished)); err != nil {
		return fmt.Errorf("take the empty project away: %w", err)
	}
	return nil
}

// isEmptyProject reports whether nothing was ever published in the project, nor waits to
// be.
func (d *Desk) isEmptyProject(p *Project) bool {
	for _, kind := range []gitstore.RefKind{gitstore.RefAgent, gitstore.RefRecord, gitstore.RefTrashAgent, gitstore.RefTrashRecord, gitstore.RefPin} {
		list, err := p.Store.Refs(kind)
		if err != nil || len(list.Refs)+len(list.Bad) > 0 {
			return false
		}
	}
	ids, err := d.Journal.LiveMissions()
	return err == nil && !slices.ContainsFunc(ids, func(id string) bool {
		_, err := d.loadProvisionalMission(p, id)
		return err == nil
	})
}

// addWorkspace notes a directory that belongs to the project, and reports whether that
// is new.
func (h *Locations) addWorkspace(path string, at home.FileIdentity) bool {
	for i, have := range h.Workspaces {
		if have.Path == path {
			h.Workspaces[i].Identity = at
			return have.Identity != at
		}
	}
	h.Workspaces = append(h.Workspaces, Location{Path: path, Identity: at})
	slices.SortFunc(h.Workspaces, func(a, b Location) int { return strings.Compare(a.Path, b.Path) })
	return true
}

// AddLocation remembers that a directory belongs to the project.
func (d *Desk) AddLocation(ctx context.Context, p *Project, path string, at home.FileIdentity) error {
	return d.ChangeLocations(ctx, p, func(h *Locations) bool { return h.addWorkspace(path, at) })
}

// ChangeLocations changes a project's hints, read afresh, while no other process
// does. change reports whether they are to be written.
func (d *Desk) ChangeLocations(ctx context.Context, p *Project, change func(*Locations) bool) error {
	held, err := lock.Wait(ctx, d.Home.Path("locks", "hints-"+p.ID), lock.Exclusive, d.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer held.Release()
	fresh, err := ReadLocations(p.Dir)
	lost := err != nil || fresh.ID != p.ID
	if !lost {
		p.Locations, p.Name = fresh, fresh.Name
	}
	if !change(&p.Locations) && !lost {
		return nil
	}
	return p.SaveLocations()
}
