package projects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// registerFile lists the projects of the home beside their directories: of one that is gone
// nothing else tells.
const registerFile = "projects.json"

// RegisterEntry is a project that was made in the home.
type RegisterEntry struct {
	ID        string `json:"id,omitempty"`
	Dir       string `json:"dir"`                 // its name among the home's projects
	Path      string `json:"path,omitempty"`      // where it was when it was made
	Forgotten bool   `json:"forgotten,omitempty"` // its user knows that it is gone for good
}

// ReadRegister lists the projects that were made in the home. A damaged register is
// KindDamaged.
func (b *Base) ReadRegister() ([]RegisterEntry, error) {
	text, err := disk.ReadFile(b.Home.Path(registerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []RegisterEntry
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, missions.Errorf(missions.KindDamaged, "umbra doctor --fix", "the list of projects, %s, is damaged: %w", b.Home.Path(registerFile), err)
	}
	return list, nil
}

// RenewRegister makes the register anew from the projects that are there. The damaged one
// stays beside it.
func (r *Registry) RenewRegister(ctx context.Context, there []*Project) error {
	return r.withRegister(ctx, func() error {
		if _, err := r.ReadRegister(); err == nil {
			return nil // another process has done it
		}
		if err := home.SetAside(r.Home.Path(registerFile)); err != nil {
			return err
		}
		return r.changeRegister(func(list []RegisterEntry) []RegisterEntry {
			for _, p := range there {
				list = append(list, p.registerEntry())
			}
			return list
		})
	})
}

// Register lists a project that is not listed, or that was forgotten and is there again.
func (r *Registry) Register(ctx context.Context, p *Project) error {
	return r.withRegister(ctx, func() error { return r.register(p.registerEntry()) })
}

// ForgetProjects notes of projects, by their names among the home's, that they are gone for
// good. They stay listed: what is not listed may come back from a backup.
func (r *Registry) ForgetProjects(ctx context.Context, dirs []string) error {
	if len(dirs) == 0 {
		return nil
	}
	return r.withRegister(ctx, func() error {
		return r.changeRegister(func(list []RegisterEntry) []RegisterEntry {
			for _, dir := range dirs {
				at := slices.IndexFunc(list, func(e RegisterEntry) bool { return e.Dir == dir })
				if at < 0 {
					at, list = len(list), append(list, RegisterEntry{Dir: dir})
				}
				list[at].Forgotten = true
			}
			return list
		})
	})
}

func (p *Project) registerEntry() RegisterEntry {
	return RegisterEntry{ID: p.ID, Dir: filepath.Base(p.Dir), Path: p.Locations.Path}
}

// register lists a project. The caller holds the home's project creation lock.
func (b *Base) register(entry RegisterEntry) error {
	return b.changeRegister(func(list []RegisterEntry) []RegisterEntry {
		return append(slices.DeleteFunc(list, func(e RegisterEntry) bool { return e.ID == entry.ID || e.Dir == entry.Dir }), entry)
	})
}

// GoneProblems says of each project of the register that its directory in the home is gone,
// and with it its snapshots, unless its user knows that. The list has those that are there.
func (b *Base) GoneProblems(register []RegisterEntry, list []*Project) []missions.Problem {
	var problems []missions.Problem
	for _, entry := range register {
		dir := b.Home.Path("projects", entry.Dir)
		if entry.Forgotten || slices.ContainsFunc(list, func(p *Project) bool { return p.ID == entry.ID }) || home.IsThere(dir) {
			continue
		}
		problems = append(problems, missions.Problem{
			Invariant: "I1", Project: entry.Dir, Message: fmt.Sprintf("%s is gone, and with it the snapshots of %s", dir, entry.Path), Fix: "umbra doctor",
		})
	}
	return problems
}

// unregister lists a project no longer. The caller holds the home's project creation lock.
func (b *Base) unregister(id string) error {
	return b.changeRegister(func(list []RegisterEntry) []RegisterEntry {
		return slices.DeleteFunc(list, func(e RegisterEntry) bool { return e.ID == id })
	})
}

// withRegister holds the home's project creation lock.
func (r *Registry) withRegister(ctx context.Context, change func() error) error {
	held, err := lock.Wait(ctx, r.Home.Path("locks", "projects"), lock.Exclusive, r.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer held.Release()
	return change()
}

// changeRegister writes the register anew, but for a damaged one. The caller holds the
// home's project creation lock.
func (b *Base) changeRegister(change func([]RegisterEntry) []RegisterEntry) error {
	list, err := b.ReadRegister()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(change(list), "", " ")
	if err != nil {
		return err
	}
	return journal.WriteBelow(b.Home.Dir, b.Home.Path(registerFile), 0o600, append(text, '\n'))
}
