// Package worktrees makes the worktrees that agents ask for forks of their missions, knows
// them again by their names, and parts with them by way of the trash. Where nothing can be
// forked it makes the worktree that Git would: an agent that asks gets no worktree from
// anybody else, so it must be answered whatever is wrong with Umbra.
package worktrees

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Place is where the worktree of a name lies.
type Place struct {
	Name    string    `json:"name"`
	Dir     string    `json:"dir"`
	Mission string    `json:"mission,omitempty"` // the fork; "" of a plain worktree
	For     string    `json:"for,omitempty"`     // of a worktree that nobody asked for: the mission whose agent works there
	Why     string    `json:"why,omitempty"`     // why it is a plain one, or a fork without all of its files
	At      time.Time `json:"at"`

	// Identity is the fork's directory, known without its mission: another one may be there
	// by now.
	Identity home.DirectoryIdentity `json:"directory,omitzero"`
}

// Repository is what an agent asks for a worktree of.
type Repository struct {
	Top    string // of the work tree that it asks from; without Git the directory itself
	Common string // the directory that all worktrees share; "" without Git
}

// RepositoryAt is the repository of a directory.
func RepositoryAt(dir string) (Repository, error) {
	g, err := projects.InspectDirectory(dir)
	if err != nil {
		return Repository{}, err
	}
	return repositoryIn(g), nil
}

func repositoryIn(g projects.Directory) Repository {
	r := Repository{Top: g.Top}
	if g.Repo != nil {
		r.Common = g.Repo.CommonDir
	}
	return r
}

// repositoryOf is the repository of a mission's workspace.
func repositoryOf(m *projects.Mission) Repository {
	return Repository{Top: m.Binding.Workspace, Common: m.Binding.CommonDir}
}

// recordsDir has a record for each repository. One process reads it while another one
// hangs: it is a file of its own, and asks for no lock.
func recordsDir(h home.Home) string { return h.Path("agents", "worktrees") }

func (r Repository) record(h home.Home) string {
	sum := sha256.Sum256([]byte(cmp.Or(r.Common, r.Top)))
	return filepath.Join(recordsDir(h), hex.EncodeToString(sum[:16])+".json")
}

// places is the record of a repository.
type places struct {
	Format int     `json:"format"`
	Places []Place `json:"worktrees"`
}

const recordFormat = 1

// Places are the worktrees of a repository that were asked for, as far as they are known.
func (r Repository) Places(h home.Home) ([]Place, error) { return readRecord(r.record(h)) }

func readRecord(file string) ([]Place, error) {
	content, err := disk.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list places
	if err == nil {
		err = json.Unmarshal(content, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("read which worktrees there are, %s: %w", file, err)
	}
	return list.Places, nil
}

// Known is the worktree of a name whose directory is still the one that it was. It waits for
// no lock and reads no mission: the Service may find one where this does not.
func (r Repository) Known(h home.Home, name string) (Place, bool) {
	p, err := r.named(h, name)
	if err != nil || p.Dir == "" || p.Mission == "" && !r.isPlain(p.Dir) {
		return Place{}, false
	}
	return p, p.Mission == "" || p.isSelf() && r.leadsHere(p.Dir)
}

// named is the place of a name, whatever is there now.
func (r Repository) named(h home.Home, name string) (Place, error) {
	list, err := r.Places(h)
	if err != nil {
		return Place{}, err
	}
	i := slices.IndexFunc(list, func(p Place) bool { return p.Name == name })
	if i < 0 {
		return Place{}, nil
	}
	return list[i], nil
}

// isSelf reports whether the directory is the one that was noted.
func (p Place) isSelf() bool {
	now, err := projects.DirectoryIdentity(p.Dir)
	return err == nil && p.Identity.Is(now)
}

// leadsHere reports whether a directory is a work tree of the repository; without Git any is.
func (r Repository) leadsHere(dir string) bool {
	if r.Common == "" {
		return isDirectory(dir)
	}
	repo, err := usergit.At(dir)
	return err == nil && repo.Unread == nil && repo.CommonDir == r.Common
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// goneFor is how long a worktree is remembered that is gone: it may be in the trash.
const goneFor = 90 * 24 * time.Hour

// Note remembers a worktree, durably, in place of another one of its name.
func (r Repository) Note(ctx context.Context, h home.Home, p Place) error {
	if identity, err := projects.DirectoryIdentity(p.Dir); err == nil && p.Mission != "" {
		p.Identity = identity
	}
	return r.change(ctx, h, func(list []Place) []Place {
		list = slices.DeleteFunc(list, func(o Place) bool {
			return o.Name == p.Name || o.Dir == p.Dir || p.At.Sub(o.At) > goneFor && !isDirectory(o.Dir)
		})
		return append(list, p)
	})
}

// change writes the record anew. One that can't be read is set aside, since the names in it
// are known no more whatever is done.
func (r Repository) change(ctx context.Context, h home.Home, change func([]Place) []Place) error {
	held, err := lock.Wait(ctx, h.Path("locks", "worktrees"), lock.Exclusive, lock.Self("worktrees"))
	if err != nil {
		return home.LockError(err)
	}
	defer held.Release()
	file := r.record(h)
	list, err := readRecord(file)
	if err != nil {
		if err := home.SetAside(file); err != nil {
			return err
		}
	}
	content, err := json.MarshalIndent(places{Format: recordFormat, Places: change(list)}, "", " ")
	if err != nil {
		return err
	}
	if err := disk.MakeDirs(h.Dir, recordsDir(h)); err != nil {
		return err
	}
	return journal.WriteBelow(h.Dir, file, 0o600, append(content, '\n'))
}

// topOf is the directory that an agent works in whose worktree is a mission: it takes none
// within a worktree.
func topOf(m *projects.Mission) string { return cmp.Or(m.Binding.Worktree, m.Binding.Workspace) }

// stripes is how many worktrees can be made at the same time, but for those whose names
// meet in one lock.
const stripes = 16

// holdName has two that ask for the same name wait for each other.
func (r Repository) holdName(ctx context.Context, h home.Home, name string) (*lock.Lock, error) {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(cmp.Or(r.Common, r.Top) + "\x00" + name))
	held, err := lock.Wait(ctx, h.Path("locks", fmt.Sprintf("worktree-%d", sum.Sum32()%stripes)), lock.Exclusive, lock.Self("worktrees"))
	if err != nil {
		return nil, home.LockError(err)
	}
	return held, nil
}

// AllPlaces are the worktrees of all repositories that are still there.
func AllPlaces(h home.Home) (list []Place) {
	entries, err := os.ReadDir(recordsDir(h))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" {
			continue
		}
		some, _ := readRecord(filepath.Join(recordsDir(h), e.Name()))
		list = append(list, slices.DeleteFunc(some, func(p Place) bool { return !isDirectory(p.Dir) })...)
	}
	return list
}
