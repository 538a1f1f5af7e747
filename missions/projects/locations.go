package projects

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions/home"
)

// locationsFormat is the version of a project's hints.
const locationsFormat = 1

const LocationsFile = "project.json"

// Locations say where on this machine a project's workspaces are.
type Locations struct {
	Format         int                    `json:"format"`
	ID             string                 `json:"id"`
	Name           string                 `json:"name"`
	Path           string                 `json:"path"` // the Git top level, or the directory
	CommonDir      string                 `json:"git_common_dir,omitempty"`
	CommonIdentity home.DirectoryIdentity `json:"git_common_place,omitzero"`
	Workspaces     []Location             `json:"workspaces"`
}

// Location is a directory that belongs to the project.
type Location struct {
	Path     string                 `json:"path"`
	Identity home.DirectoryIdentity `json:"place"`
}

// isAt reports whether a directory is the one of the location. That one may have moved, and
// its device may have another number since.
func (l Location) isAt(path string, now home.DirectoryIdentity) bool {
	return l.Identity.Inode != 0 && (l.Identity.Is(now) || l.Path == path && l.Identity.IsRenumbered(now))
}

// common is the common directory of the project's repository.
func (h *Locations) common() Location { return Location{Path: h.CommonDir, Identity: h.CommonIdentity} }

// addWorkspace notes a directory that belongs to the project, and reports whether that
// is new.
func (h *Locations) addWorkspace(path string, at home.DirectoryIdentity) bool {
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
	if g.Repo != nil && p.Locations.common().isAt(g.Repo.CommonDir, g.CommonIdentity) {
		return 1 << 30
	}
	best := -1
	for _, h := range p.Locations.Workspaces {
		if home.IsWithin(h.Path, g.Dir) && (g.Repo == nil || len(h.Path) > len(g.Top)) {
			best = max(best, len(h.Path))
		}
		if h.isAt(g.Dir, g.Identity) {
			best = max(best, len(g.Dir))
		}
	}
	return best
}

// AddLocation remembers that a directory belongs to the project.
func (r *Registry) AddLocation(ctx context.Context, p *Project, path string, at home.DirectoryIdentity) error {
	_, err := r.ChangeLocations(ctx, p, func(h *Locations) bool { return h.addWorkspace(path, at) })
	return err
}

// ChangeLocations changes a project's hints, read afresh, while no other process
// does, and returns the project with them. p stays as it was: it may be that of a
// remembered mission, which others read meanwhile. change reports whether the hints are to
// be written.
func (r *Registry) ChangeLocations(ctx context.Context, p *Project, change func(*Locations) bool) (*Project, error) {
	held, err := lock.Wait(ctx, r.Home.Path("locks", "hints-"+p.ID), lock.Exclusive, r.Self)
	if err != nil {
		return p, home.LockError(err)
	}
	defer held.Release()
	now := p.Over(p.Store)
	now.Locations.Workspaces = slices.Clone(now.Locations.Workspaces)
	fresh, err := ReadLocations(p.Dir)
	lost := err != nil || fresh.ID != p.ID
	if !lost {
		now.Locations, now.Name = fresh, fresh.Name
	}
	if !change(&now.Locations) && !lost {
		return now, nil
	}
	return now, now.SaveLocations()
}

// recoverLocations makes lost hints again from what the missions' records say of
// this machine. They are written back by whoever changes them next.
func (r *Registry) recoverLocations(dir string, store *shadow.Store) Locations {
	name, _, _ := cutLast(filepath.Base(dir), "-")
	p := &Project{ID: store.ProjectID(), Dir: dir, Name: name, Store: store, SnapshotCache: r.snapshotCache}
	p.Locations = Locations{Format: locationsFormat, ID: p.ID, Name: name}
	all, _ := r.missions.ProjectMissions(p)
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
