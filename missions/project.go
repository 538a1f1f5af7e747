package missions

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
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// projectFormat is the version of a project's hints.
const projectFormat = 1

// project is an open project: its shadow repository and where it is found. Its
// identity is its UUID; paths and inodes are hints that can be rebound.
type project struct {
	ID        string
	Dir       string // $UMBRA_HOME/projects/<name>-<short>
	Name      string
	store     *gitstore.Store
	snapshots *snapshots
	hints     hints
}

// hints say where on this machine a project's workspaces are.
type hints struct {
	Format    int         `json:"format"`
	ID        string      `json:"id"`
	Name      string      `json:"name"`
	Path      string      `json:"path"` // the Git top level, or the directory
	CommonDir string      `json:"git_common_dir,omitempty"`
	Common    Place       `json:"git_common_place,omitzero"`
	Places    []placeHint `json:"workspaces"`
}

// placeHint is a directory that belongs to the project.
type placeHint struct {
	Path  string `json:"path"`
	Place Place  `json:"place"`
}

const hintsFile = "project.json"

func (p *project) shadow() string { return filepath.Join(p.Dir, "shadow.git") }

// ground is what a directory is: where it is really, and whose repository it
// is in.
type ground struct {
	Dir    string // resolved, absolute
	Place  Place
	Repo   *usergit.Repository // nil without Git
	Common Place               // of the repository's common directory
	Top    string              // the Git top level, else Dir
}

// survey looks at a directory. The error is the user's: missing, not a
// directory, not readable.
func survey(dir string) (ground, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ground{}, Errorf(KindNotFound, "name a directory that is there", "%s: %w", dir, userfile.Reason(err))
	}
	place, err := placeOf(resolved)
	if err != nil {
		return ground{}, err
	}
	g := ground{Dir: resolved, Place: place, Top: resolved}
	repo, err := usergit.Discover(resolved)
	switch {
	case errors.Is(err, usergit.ErrNoRepository):
	case err != nil:
		return ground{}, Errorf(KindFailed, "", "look for the Git repository of %s: %w", dir, err)
	case repo.Bare || repo.TopLevel == "":
	case repo.CommonDir == "":
		g.Repo, g.Top = repo, repo.TopLevel
	default:
		if g.Common, err = placeOf(repo.CommonDir); err != nil {
			return ground{}, err
		}
		g.Repo, g.Top = repo, repo.TopLevel
	}
	return g, nil
}

// placeOf identifies a directory.
func placeOf(dir string) (Place, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return Place{}, Errorf(KindNotFound, "", "%s: %w", dir, userfile.Reason(err))
	}
	if !info.IsDir() {
		return Place{}, Errorf(KindUsage, "name a directory", "%s is not a directory", dir)
	}
	return identityOf(info), nil
}

// allProjects opens every project of the home. One that is damaged is
// reported, not returned, and hides no other.
func (l *Local) allProjects() ([]*project, []Problem) {
	entries, err := os.ReadDir(l.home.ProjectsDir())
	if err != nil {
		return nil, []Problem{{Message: fmt.Sprintf("read %s: %v", l.home.ProjectsDir(), userfile.Reason(err)), unlisted: !errors.Is(err, fs.ErrNotExist)}}
	}
	var found []*project
	var problems []Problem
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		p, err := l.openProject(filepath.Join(l.home.ProjectsDir(), e.Name()))
		if err != nil {
			problems = append(problems, Problem{Invariant: "I1", Project: e.Name(), Message: err.Error(), Fix: "umbra doctor"})
			continue
		}
		found = append(found, p)
	}
	return found, problems
}

// closedProject is a project that can't be opened, with what its hints say.
func (l *Local) closedProject(name string) *project {
	dir := filepath.Join(l.home.ProjectsDir(), name)
	h, _ := readHints(dir)
	return &project{ID: h.ID, Dir: dir, Name: name, hints: h}
}

// openProject opens the project kept in dir. Its store is opened once a process,
// and then what a kill left behind in it is repaired; the hints are read afresh,
// so that every caller has its own.
func (l *Local) openProject(dir string) (*project, error) {
	store, err := l.openStore(dir)
	if err != nil {
		return nil, Errorf(KindDamaged, "umbra doctor", "project %s: %w", filepath.Base(dir), err)
	}
	h, err := readHints(dir)
	if err != nil || h.ID != store.ProjectID() {
		h = l.recoverHints(dir, store)
	}
	return &project{ID: store.ProjectID(), Dir: dir, Name: h.Name, store: store, snapshots: l.snapshots, hints: h}, nil
}

// openStore is a project's store, opened when it is first needed. Opening one
// may take long, and holds up no other project.
type openStore struct {
	mu    sync.Mutex
	store *gitstore.Store // nil while it could not be opened
}

func (o *openStore) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store == nil {
		return nil
	}
	return o.store.Close()
}

func (l *Local) openStore(dir string) (*gitstore.Store, error) {
	l.mu.Lock()
	open := l.stores[dir]
	if open == nil {
		open = &openStore{}
		l.stores[dir] = open
	}
	l.mu.Unlock()
	open.mu.Lock()
	defer open.mu.Unlock()
	if open.store != nil {
		return open.store, nil
	}
	store, err := gitstore.Open(filepath.Join(dir, "shadow.git"))
	if err != nil {
		return nil, err
	}
	repaired, err := store.RepairRecords(context.Background())
	if err != nil {
		l.log.Warn("repair the records refs", "project", filepath.Base(dir), "error", err) // doctor says it too
	}
	for _, r := range repaired {
		l.log.Debug("repaired a records ref", "project", filepath.Base(dir), "ref", r.Ref, "was", r.Was, "now", r.Now)
	}
	open.store = store
	return store, nil
}

// recoverHints makes lost hints again from what the missions' records say of
// this machine. They are written back by whoever changes them next.
func (l *Local) recoverHints(dir string, store *gitstore.Store) hints {
	name, _, _ := cutLast(filepath.Base(dir), "-")
	p := &project{ID: store.ProjectID(), Dir: dir, Name: name, store: store, snapshots: l.snapshots}
	p.hints = hints{Format: projectFormat, ID: p.ID, Name: name}
	all, _ := l.missionsOf(p)
	for _, m := range all {
		if m.bind.Workspace == "" {
			continue
		}
		p.hints.add(m.bind.Workspace, m.bind.Place)
		if top, ok := strings.CutSuffix(m.bind.Workspace, "/"+m.bind.Scope); !m.bind.Made && p.hints.Path == "" && (ok || m.bind.Scope == "") {
			p.hints.Path = top
		}
		if p.hints.CommonDir == "" && m.bind.CommonDir != "" {
			if common, err := placeOf(m.bind.CommonDir); err == nil {
				p.hints.CommonDir, p.hints.Common = m.bind.CommonDir, common
			}
		}
	}
	return p.hints
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func readHints(dir string) (hints, error) {
	var h hints
	p, err := disk.ReadFile(filepath.Join(dir, hintsFile))
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(p, &h); err != nil {
		return h, fmt.Errorf("%s: %w", hintsFile, err)
	}
	return h, nil
}

func (p *project) saveHints() error {
	b, err := json.MarshalIndent(p.hints, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteBelow(p.Dir, filepath.Join(p.Dir, hintsFile), 0o600, append(b, '\n'))
}

// holds reports how well the project fits a directory: the length of the path
// that matches, or -1. A shared Git common directory fits best of all.
func (p *project) holds(g ground) int {
	if g.Repo != nil && p.hints.Common == g.Common && p.hints.Common != (Place{}) {
		return 1 << 30
	}
	best := -1
	for _, h := range p.hints.Places {
		if within(h.Path, g.Dir) && (g.Repo == nil || len(h.Path) > len(g.Top)) {
			best = max(best, len(h.Path))
		}
		if h.Place == g.Place {
			best = max(best, len(g.Dir))
		}
	}
	return best
}

// within reports whether path is dir or below it. Both are clean.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// projectOf finds the project of a directory, or nil. One that can't be opened
// is not one that does not exist (H3).
func (l *Local) projectOf(g ground) (*project, error) {
	all, problems := l.allProjects()
	var found *project
	best := -1
	for _, p := range all {
		if fit := p.holds(g); fit > best {
			found, best = p, fit
		}
	}
	for _, problem := range problems {
		if problem.unlisted {
			return nil, Errorf(KindFailed, "try again; umbra doctor looks at the home", "whether %s belongs to a project can't be told: %s", g.Dir, problem.Message)
		}
		if problem.Project != "" && l.closedProject(problem.Project).holds(g) > best {
			return nil, Errorf(KindDamaged, "umbra doctor", "the project of %s can't be opened: %s", g.Dir, problem.Message)
		}
	}
	return found, nil
}

var unfitForName = pattern(`[^a-z0-9._-]+`)

// createProject makes the project of a directory. The caller holds the home's
// project creation lock, so that two commands make one project.
func (l *Local) createProject(ctx context.Context, g ground) (*project, error) {
	if g.Repo != nil && g.Repo.CommonDir == "" && !g.Repo.LeadsNowhere() {
		return nil, unreadRepository(g.Repo) // its project may be there already
	}
	id := l.newID()
	name := strings.Trim(unfitForName().ReplaceAllString(strings.ToLower(filepath.Base(g.Top)), "-"), "-._")
	if name == "" {
		name = "project"
	}
	if len(name) > 40 {
		name = name[:40]
	}
	p := &project{ID: id, Name: name, hints: hints{Format: projectFormat, ID: id, Name: name, Path: g.Top}}
	if g.Repo != nil {
		p.hints.CommonDir, p.hints.Common = g.Repo.CommonDir, g.Common
	}
	p.hints.add(g.Dir, g.Place)
	dir := filepath.Join(l.home.ProjectsDir(), name+"-"+id[:8])
	if err := l.makeProject(ctx, p, dir); err != nil {
		return nil, fmt.Errorf("make the project: %w", err)
	}
	return l.openProject(dir)
}

// unfinishedProject begins the name of a project that is being made.
const unfinishedProject = ".new-"

// makeProject makes a project under another name, so that it appears whole.
func (l *Local) makeProject(ctx context.Context, p *project, dir string) (err error) {
	old, err := filepath.Glob(l.home.ProjectsDir() + "/" + unfinishedProject + "*")
	if err != nil {
		return err
	}
	for _, left := range old { // by a process that died: this one holds the lock
		if err := os.RemoveAll(left); err != nil {
			return err
		}
	}
	p.Dir = filepath.Join(l.home.ProjectsDir(), unfinishedProject+p.ID)
	if err := disk.MakeDirs(l.home.Dir, p.Dir); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(p.Dir))
		}
	}()
	store, err := gitstore.Create(ctx, p.shadow(), gitstore.CreateOptions{ProjectID: p.ID})
	if err != nil {
		return err
	}
	failpoint.Hit("project.store")
	if err := errors.Join(store.Close(), p.saveHints()); err != nil {
		return err
	}
	return journal.MoveDirectory(p.Dir, dir)
}

// ensureProject finds the project of a directory, or makes it.
func (l *Local) ensureProject(ctx context.Context, g ground) (*project, error) {
	if p, err := l.projectOf(g); p != nil || err != nil {
		return p, err
	}
	held, err := lock.Wait(ctx, l.home.path("locks", "projects"), lock.Exclusive, l.self)
	if err != nil {
		return nil, busy(err)
	}
	defer held.Release()
	if p, err := l.projectOf(g); p != nil || err != nil {
		return p, err
	}
	return l.createProject(ctx, g)
}

// removeEmpty takes away a project whose first mission could not be made. One
// that somebody else is about to use stays, and whoever fails last removes it.
func (l *Local) removeEmpty(p *project) error {
	if !l.empty(p) {
		return nil
	}
	projects, err := lock.Try(l.home.path("locks", "projects"), lock.Exclusive, l.self)
	if err != nil {
		return nil
	}
	defer projects.Release()
	whole, err := lock.Try(lock.ProjectFile(l.home.Dir, p.ID), lock.Exclusive, l.self)
	if err != nil {
		return nil
	}
	defer whole.Release()
	if !l.empty(p) {
		return nil
	}
	unfinished := filepath.Join(l.home.ProjectsDir(), unfinishedProject+p.ID)
	if err := os.Rename(p.Dir, unfinished); err != nil {
		return fmt.Errorf("take the empty project away: %w", err)
	}
	l.mu.Lock()
	open := l.stores[p.Dir]
	delete(l.stores, p.Dir)
	l.mu.Unlock()
	if open != nil {
		err = open.close()
	}
	if err := errors.Join(err, os.RemoveAll(unfinished)); err != nil {
		return fmt.Errorf("take the empty project away: %w", err)
	}
	return nil
}

// empty reports whether nothing was ever published in the project, nor waits to
// be.
func (l *Local) empty(p *project) bool {
	for _, kind := range []gitstore.RefKind{gitstore.RefAgent, gitstore.RefRecord, gitstore.RefTrashAgent, gitstore.RefTrashRecord, gitstore.RefPin} {
		list, err := p.store.Refs(kind)
		if err != nil || len(list.Refs)+len(list.Bad) > 0 {
			return false
		}
	}
	ids, err := l.journal.LiveMissions()
	return err == nil && !slices.ContainsFunc(ids, func(id string) bool {
		_, err := l.loadProvisional(p, id)
		return err == nil
	})
}

// add notes a directory that belongs to the project, and reports whether that
// is new.
func (h *hints) add(path string, at Place) bool {
	for i, have := range h.Places {
		if have.Path == path {
			h.Places[i].Place = at
			return have.Place != at
		}
	}
	h.Places = append(h.Places, placeHint{Path: path, Place: at})
	slices.SortFunc(h.Places, func(a, b placeHint) int { return strings.Compare(a.Path, b.Path) })
	return true
}

// addPlace remembers that a directory belongs to the project.
func (l *Local) addPlace(ctx context.Context, p *project, path string, at Place) error {
	return l.changeHints(ctx, p, func(h *hints) bool { return h.add(path, at) })
}

// changeHints changes a project's hints, read afresh, while no other process
// does. change reports whether they are to be written.
func (l *Local) changeHints(ctx context.Context, p *project, change func(*hints) bool) error {
	held, err := lock.Wait(ctx, l.home.path("locks", "hints-"+p.ID), lock.Exclusive, l.self)
	if err != nil {
		return busy(err)
	}
	defer held.Release()
	fresh, err := readHints(p.Dir)
	lost := err != nil || fresh.ID != p.ID
	if !lost {
		p.hints, p.Name = fresh, fresh.Name
	}
	if !change(&p.hints) && !lost {
		return nil
	}
	return p.saveHints()
}
