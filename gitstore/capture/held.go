package capture

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// Held is what the snapshot before holds and the Scanner does not know of: the snapshot
// is another mission's, or the cache is older than it.
type Held struct {
	paths    *usergit.PathSet
	withheld *usergit.PathSet        // files and directories, see ReasonWithheld
	wanted   []string                // those of paths that the Scanner is to look for
	leftOut  []*documents.SkippedSet // of the workspace's snapshots, for a Scanner that knows nothing
	unknown  bool                    // the snapshot could not be read
	none     bool                    // there is no snapshot before
}

// NewHeld makes a Held of the paths of files and links, in any order.
func NewHeld(paths []string) *Held { return &Held{paths: usergit.NewPathSet(paths)} }

// UnknownHeld stands for a snapshot that could not be read. No file is left out then
// for being new: to leave it out would be to lose it (H3).
func UnknownHeld() *Held { return &Held{unknown: true} }

// NoHeld stands for no snapshot before, as nil does; it may be Withholding.
func NoHeld() *Held { return &Held{none: true} }

// Withholding adds what is to stay out though no rule says so any more; see
// ReasonWithheld. It is said again for each capture.
func (h *Held) Withholding(paths []string) *Held {
	h.withheld = usergit.NewPathSet(slices.Clone(paths))
	return h
}

// LeavingOut adds what the newest snapshots of the workspace left out, for a Scanner that
// knows nothing.
func (h *Held) LeavingOut(skipped ...*documents.SkippedSet) *Held {
	h.leftOut = skipped
	return h
}

// leavesOutGit tells whether one of the snapshots left Git's own out of a directory.
func (h *Held) leavesOutGit(dir string) bool {
	head := treepath.Join(dir, "HEAD")
	return slices.ContainsFunc(h.leftOut, func(skipped *documents.SkippedSet) bool {
		s, ok := skipped.Covers(head)
		return ok && s.Path == head && s.Reason == documents.ReasonReserved
	})
}

// Including adds the paths of files that are captured if they are there, whatever rule
// leaves them out: a restore exchanges only what is captured.
func (h *Held) Including(paths []string) *Held {
	if len(paths) == 0 {
		return h // as for each snapshot but those of a restore
	}
	all := slices.Clone(paths)
	for i := range h.paths.Len() {
		all = append(all, h.paths.Path(i))
	}
	h.paths, h.wanted = usergit.NewPathSet(slices.Compact(slices.Sorted(slices.Values(all)))), paths
	return h
}

// addWanted makes dirty what Including named and the capture before left out.
func (c *capturing) addWanted(dirty *dirtyTree) {
	if c.options.Held == nil {
		return
	}
	for _, path := range c.options.Held.wanted {
		if e := c.scanner.base.at(path); e == nil || e.kind == kindSkipped {
			dirty.add(path)
			c.tracked = append(c.tracked, path)
		}
	}
}

// HoldsAny tells whether one of the paths is a captured file or link.
func (r *Result) HoldsAny(paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		e := r.root.at(path)
		return e != nil && e.kind != kindSkipped && e.kind != kindDirectory
	})
}

// Withheld lists what was left out for ReasonWithheld, sorted.
func (r *Result) Withheld() (paths []string) {
	for _, s := range r.Skipped {
		if s.Reason == documents.ReasonWithheld {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// withholds tells whether what is at a path, and no rule leaves out, stays out since
// a rule that a restore took away did.
func (w *walker) withholds(s *scene, name string, old *entry) bool {
	path := treepath.Join(s.at.path, name)
	if (old == nil || old.skipReason() != documents.ReasonWithheld) && (w.held == nil || !w.held.withheld.Has(path)) {
		return false
	}
	captured := old != nil && old.kind != kindSkipped || w.holds(path) || w.keepsBelow(path)
	return !captured && !s.repo.has(path) && !s.repo.hasBelow(path)
}

// keeps tells whether the snapshot before holds a file or link. It stays captured
// whatever rule leaves it out now, as Git goes on with what it tracks.
func (w *walker) keeps(path string) bool {
	if e := w.base.at(path); e != nil && e.kind != kindSkipped {
		return e.kind != kindDirectory
	}
	return w.held != nil && w.held.paths.Has(path)
}

// keepsBelow tells the same of anything inside a directory.
func (w *walker) keepsBelow(dir string) bool {
	return w.base.holdsBelow(dir) || w.held != nil && w.held.paths.HasBelow(dir)
}

// holdsBelow tells whether files are captured inside a directory below this one.
func (n *node) holdsBelow(dir string) bool {
	e := n.at(dir)
	return e != nil && e.kind == kindDirectory && e.dir.sum.files > 0
}

// holds is keeps for the limits of what is new, and for what is withheld: of a snapshot
// that could not be read, everything is taken for held.
func (w *walker) holds(path string) bool { return w.held != nil && w.held.unknown || w.keeps(path) }
