package restore

import (
	"errors"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// ErrNoRules is returned for a target without its recorded rules: what may be
// deleted is not known then.
var ErrNoRules = errors.New("the target's recorded rules are missing")

// Plan is what a restore will do, and what it will leave. It can be stored as
// JSON.
type Plan struct {
	// From and To are the trees of S, the safety snapshot, and of T.
	From, To gitstore.ID
	// Changes are sorted by path.
	Changes []Change
	// MakeDirs comes top-down, RemoveDirs bottom-up. A directory is removed only
	// if the deletions have emptied it.
	MakeDirs, RemoveDirs []Directory
	// DirModes are sorted by path.
	DirModes []DirMode
	// Renames come top-down, before all that writes.
	Renames []Rename
	// Keep is sorted by path.
	Keep []Kept
	// Links are groups of paths that are names of one file in S, and of which some are
	// changed. Relink are such groups that become one file again.
	Links, Relink [][]string
}

// Empty tells that there is nothing to do.
func (p *Plan) Empty() bool {
	return len(p.Changes) == 0 && len(p.MakeDirs) == 0 && len(p.RemoveDirs) == 0 &&
		len(p.DirModes) == 0 && len(p.Renames) == 0
}

// Paths lists the paths of some actions, sorted, that hold something else afterwards.
func (p *Plan) Paths(actions ...Action) []string {
	var out []string
	for i := range p.Changes {
		if c := &p.Changes[i]; slices.Contains(actions, c.Action()) && (c.differs() || !c.Whole) {
			out = append(out, c.Path)
		}
	}
	return out
}

// Revealed lists what is to be withheld from the snapshots to come; see ReasonRevealed.
func (p *Plan) Revealed() (paths []string) {
	for _, k := range p.Keep {
		if k.Reason == ReasonRevealed {
			paths = append(paths, k.Path)
		}
	}
	return paths
}

// Covers tells whether path, or a directory above it, is kept, and why.
func (p *Plan) Covers(path string) (Kept, bool) {
	for at := path; ; {
		i, ok := slices.BinarySearchFunc(p.Keep, at, func(k Kept, at string) int { return strings.Compare(k.Path, at) })
		if ok {
			return p.Keep[i], true
		}
		if at = treepath.Parent(at); at == "" {
			return Kept{}, false
		}
	}
}

// change finds the planned change of a path.
func (p *Plan) change(path string) (*Change, bool) {
	i, ok := slices.BinarySearchFunc(p.Changes, path, byPath)
	if !ok {
		return nil, false
	}
	return &p.Changes[i], true
}

func byPath(c Change, path string) int { return strings.Compare(c.Path, path) }

func depth(path string) int { return strings.Count(path, "/") }
