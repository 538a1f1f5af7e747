package projects

import (
	"context"
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
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// Registry is the projects of the home: it lists, opens, finds, makes and removes them.
// A project's store is opened once in a process.
type Registry struct {
	*Base
	missions      *MissionReader
	snapshotCache *snapshotCache
	mu            sync.Mutex               // guards ProjectStores
	ProjectStores map[string]*projectStore // by project directory
}

func newRegistry(b *Base, r *MissionReader) *Registry {
	return &Registry{Base: b, missions: r, snapshotCache: newSnapshotCache(), ProjectStores: map[string]*projectStore{}}
}

// AllProjects opens every project of the home. One that is damaged is
// reported, not returned, and hides no other.
func (r *Registry) AllProjects() ([]*Project, []missions.Problem) {
	entries, err := os.ReadDir(r.Home.ProjectsDir())
	if err != nil {
		return nil, []missions.Problem{{Message: fmt.Sprintf("read %s: %v", r.Home.ProjectsDir(), userfile.Reason(err)), ProjectsUnlisted: !errors.Is(err, fs.ErrNotExist)}}
	}
	var found []*Project
	var problems []missions.Problem
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		p, err := r.OpenProject(filepath.Join(r.Home.ProjectsDir(), e.Name()))
		if err != nil {
			problems = append(problems, missions.Problem{Invariant: "I1", Project: e.Name(), Message: err.Error(), Fix: "umbra doctor"})
			continue
		}
		found = append(found, p)
	}
	return found, problems
}

// UnopenedProject is a project that can't be opened, with what its hints say.
func (r *Registry) UnopenedProject(name string) *Project {
	dir := filepath.Join(r.Home.ProjectsDir(), name)
	h, _ := ReadLocations(dir)
	return &Project{ID: h.ID, Dir: dir, Name: name, Locations: h}
}

// OpenProject opens the project kept in dir. Its store is opened once a process,
// and then what a kill left behind in it is repaired; the hints are read afresh,
// so that every caller has its own.
func (r *Registry) OpenProject(dir string) (*Project, error) {
	store, err := r.openStore(dir)
	if err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "project %s: %w", filepath.Base(dir), err)
	}
	h, err := ReadLocations(dir)
	if err != nil || h.ID != store.ProjectID() {
		h = r.recoverLocations(dir, store)
	}
	return &Project{ID: store.ProjectID(), Dir: dir, Name: h.Name, Store: store, SnapshotCache: r.snapshotCache, Locations: h}, nil
}

// projectStore is a project's store, opened when it is first needed. Opening one
// may take long, and holds up no other project.
type projectStore struct {
	Mu    sync.Mutex
	store *shadow.Store // nil while it could not be opened
}

func (o *projectStore) close() error {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	if o.store == nil {
		return nil
	}
	return o.store.Close()
}

func (r *Registry) openStore(dir string) (*shadow.Store, error) {
	r.mu.Lock()
	open := r.ProjectStores[dir]
	if open == nil {
		open = &projectStore{}
		r.ProjectStores[dir] = open
	}
	r.mu.Unlock()
	open.Mu.Lock()
	defer open.Mu.Unlock()
	if open.store != nil {
		return open.store, nil
	}
	store, err := shadow.Open(filepath.Join(dir, "shadow.git"))
	if err != nil {
		return nil, err
	}
	repaired, err := store.RepairRecords(context.Background())
	if err != nil {
		r.Logger.Warn("repair the records refs", "project", filepath.Base(dir), "error", err) // doctor says it too
	}
	for _, repair := range repaired {
		r.Logger.Debug("repaired a records ref", "project", filepath.Base(dir), "ref", repair.Ref, "was", repair.Was, "now", repair.Now)
	}
	open.store = store
	return store, nil
}

// CloseProjects closes the repositories that are open.
func (r *Registry) CloseProjects() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for dir, open := range r.ProjectStores {
		errs = append(errs, open.close())
		delete(r.ProjectStores, dir)
	}
	return errors.Join(errs...)
}

// FindProject finds the project of a directory, or nil. One that can't be opened
// is not one that does not exist (H3).
func (r *Registry) FindProject(g Directory) (*Project, error) {
	all, problems := r.AllProjects()
	var found *Project
	best := -1
	for _, p := range all {
		if fit := p.DirectoryFit(g); fit > best {
			found, best = p, fit
		}
	}
	if found == nil && g.Repo != nil && g.Repo.CommonDir != "" {
		if i := slices.IndexFunc(all, func(p *Project) bool { return r.resembles(p, g) }); i >= 0 {
			return all[i], nil
		}
	}
	for _, problem := range problems {
		if problem.ProjectsUnlisted {
			return nil, missions.Errorf(missions.KindFailed, "try again; umbra doctor looks at the home", "whether %s belongs to a project can't be told: %s", g.Dir, problem.Message)
		}
		if problem.Project != "" && r.UnopenedProject(problem.Project).DirectoryFit(g) > best {
			return nil, missions.Errorf(missions.KindDamaged, "umbra doctor", "the project of %s can't be opened: %s", g.Dir, problem.Message)
		}
	}
	return found, nil
}

// FindOrCreateProject finds the project of a directory, or makes it.
func (r *Registry) FindOrCreateProject(ctx context.Context, g Directory) (*Project, error) {
	if p, err := r.FindProject(g); p != nil || err != nil {
		return p, err
	}
	held, err := lock.Wait(ctx, r.Home.Path("locks", "projects"), lock.Exclusive, r.Self)
	if err != nil {
		return nil, home.LockError(err)
	}
	defer held.Release()
	if p, err := r.FindProject(g); p != nil || err != nil {
		return p, err
	}
	return r.createProject(ctx, g)
}

var UnfitNameChars = missions.LazyPattern(`[^a-z0-9._-]+`)

// createProject makes the project of a directory. The caller holds the home's
// project creation lock, so that two commands make one project.
func (r *Registry) createProject(ctx context.Context, g Directory) (*Project, error) {
	if g.Repo != nil && g.Repo.CommonDir == "" && !g.Repo.LeadsNowhere() {
		return nil, UnreadRepositoryError(g.Repo) // its project may be there already
	}
	id := r.NewID()
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
	dir := filepath.Join(r.Home.ProjectsDir(), name+"-"+id[:8])
	if err := r.WriteProject(ctx, p, dir); err != nil {
		return nil, fmt.Errorf("make the project: %w", err)
	}
	if err := r.register(RegisterEntry{ID: id, Dir: filepath.Base(dir), Path: g.Top}); err != nil {
		r.Logger.Warn("list the project", "project", p.Name, "error", err) // it is there all the same
	}
	return r.OpenProject(dir)
}

// WriteProject makes a project under another name, so that it appears whole.
func (r *Registry) WriteProject(ctx context.Context, p *Project, dir string) (err error) {
	old, err := filepath.Glob(r.Home.ProjectsDir() + "/" + home.UnfinishedProjectPrefix + "*")
	if err != nil {
		return err
	}
	for _, left := range old { // by a process that died: this one holds the lock
		if err := os.RemoveAll(left); err != nil {
			return err
		}
	}
	p.Dir = filepath.Join(r.Home.ProjectsDir(), home.UnfinishedProjectPrefix+p.ID)
	if err := disk.MakeDirs(r.Home.Dir, p.Dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(p.Dir))
		}
	}()
	store, err := shadow.Create(ctx, p.ShadowRepo(), shadow.CreateOptions{ProjectID: p.ID})
	if err != nil {
		return err
	}
	failpoint.Hit("project.store")
	if err := errors.Join(store.Close(), p.SaveLocations()); err != nil {
		return err
	}
	return journal.MoveDirectory(p.Dir, dir)
}

// RemoveEmptyProject takes away a project whose first mission could not be made. One
// that somebody else is about to use stays, and whoever fails last removes it.
func (r *Registry) RemoveEmptyProject(p *Project) error {
	if !r.isEmptyProject(p) {
		return nil
	}
	projects, err := lock.Try(r.Home.Path("locks", "projects"), lock.Exclusive, r.Self)
	if err != nil {
		return nil
	}
	defer projects.Release()
	whole, err := lock.Try(lock.ProjectFile(r.Home.Dir, p.ID), lock.Exclusive, r.Self)
	if err != nil {
		return nil
	}
	defer whole.Release()
	if !r.isEmptyProject(p) {
		return nil
	}
	unfinished := filepath.Join(r.Home.ProjectsDir(), home.UnfinishedProjectPrefix+p.ID)
	if err := os.Rename(p.Dir, unfinished); err != nil {
		return fmt.Errorf("take the empty project away: %w", err)
	}
	r.mu.Lock()
	open := r.ProjectStores[p.Dir]
	delete(r.ProjectStores, p.Dir)
	r.mu.Unlock()
	if open != nil {
		err = open.close()
	}
	if err := errors.Join(err, os.RemoveAll(unfinished), r.unregister(p.ID)); err != nil {
		return fmt.Errorf("take the empty project away: %w", err)
	}
	return nil
}

// isEmptyProject reports whether nothing was ever published in the project, nor waits to
// be.
func (r *Registry) isEmptyProject(p *Project) bool {
	if home.IsThere(p.RemotesFile()) {
		return false
	}
	for _, kind := range []gitstore.RefKind{gitstore.RefAgent, gitstore.RefRecord, gitstore.RefTrashAgent, gitstore.RefTrashRecord, gitstore.RefPin} {
		list, err := p.Store.Refs(kind)
		if err != nil || len(list.Refs)+len(list.Bad) > 0 {
			return false
		}
	}
	ids, err := r.Journal.LiveMissions()
	return err == nil && !slices.ContainsFunc(ids, func(id string) bool {
		_, err := r.missions.loadProvisionalMission(p, id)
		return err == nil
	})
}
