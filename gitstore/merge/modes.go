package merge

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// SideModes is what the tree of a side cannot hold, with that tree.
type SideModes struct {
	Tree gitstore.ID
	*documents.Modes
}

// Modes merges what trees cannot hold: theirs, changed as ours is since the base where
// theirs is as the base. In tree, the merged one, directories that were empty may hold
// files.
func Modes(s *shadow.Store, tree gitstore.ID, base, ours, theirs SideModes) (*documents.Modes, error) {
	merged := *theirs.Modes
	if err := mergeEmpty(s, tree, &merged, base, ours, theirs); err != nil {
		return nil, err
	}
	if haveOneUsual(base, ours, theirs) {
		return &merged, mergeUnusual(s, tree, &merged, base, ours, theirs)
	}
	return &merged, mergePerms(s, tree, &merged, base, ours, theirs)
}

// haveOneUsual reports whether the most common permission bits are the same on all sides, as
// far as they are known.
func haveOneUsual(base, ours, theirs SideModes) bool {
	o, t := usualOf(ours.Modes), usualOf(theirs.Modes)
	for i, b := range usualOf(base.Modes) {
		if b.Differs(*o[i]) || b.Differs(*t[i]) || o[i].Differs(*t[i]) {
			return false
		}
	}
	return true
}

// usualOf are the most common permission bits of files, programs and directories.
func usualOf(m *documents.Modes) []*documents.Perm {
	return []*documents.Perm{&m.File, &m.Executable, &m.Directory}
}

// mergeUnusual merges the permission bits of the paths that are listed. All others have those
// that are most common, which are the same on all sides. What one side deleted, and the merged
// tree has all the same, is as on the other.
func mergeUnusual(s *shadow.Store, tree gitstore.ID, merged *documents.Modes, base, ours, theirs SideModes) error {
	merged.Unusual = maps.Clone(theirs.Unusual)
	if merged.Unusual == nil {
		merged.Unusual = map[string]uint32{}
	}
	for path := range bothKeys(base.Unusual, ours.Unusual) {
		then, thenSet := base.Unusual[path]
		now, nowSet := ours.Unusual[path]
		their, theirSet := theirs.Unusual[path]
		back, err := false, error(nil)
		switch {
		case nowSet && !theirSet:
			back, err = isBack(s, tree, theirs.Tree, path)
		case theirSet && !nowSet:
			back, err = isBack(s, tree, ours.Tree, path)
		}
		switch {
		case err != nil:
			return err
		case back && nowSet:
			merged.Unusual[path] = now
		case back:
		case now == then && nowSet == thenSet, their != then || theirSet != thenSet:
		case nowSet:
			merged.Unusual[path] = now
		default:
			delete(merged.Unusual, path)
		}
	}
	return nil
}

// isBack tells whether a merged tree has a path that a side has not.
func isBack(s *shadow.Store, merged, side gitstore.ID, path string) (bool, error) {
	if _, err := s.Lookup(side, path); !errors.Is(err, gitstore.ErrNoEntry) {
		return false, err
	}
	_, err := s.Lookup(merged, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return false, nil
	}
	return err == nil, err
}

// mergePerms merges the permission bits of each path of the merged tree: where a side has
// others as the most common ones, it has changed those of paths that are not listed.
func mergePerms(s *shadow.Store, tree gitstore.ID, merged *documents.Modes, base, ours, theirs SideModes) error {
	o, m := usualOf(ours.Modes), usualOf(merged)
	for i, b := range usualOf(base.Modes) {
		if *b == *m[i] {
			*m[i] = *o[i]
		}
	}
	merged.Unusual = map[string]uint32{}
	each := func(path string, e gitstore.TreeEntry) error {
		b, err := permOf(s, base, path, e.Mode)
		if err != nil {
			return err
		}
		o, err := permOf(s, ours, path, e.Mode)
		if err != nil {
			return err
		}
		perm, err := permOf(s, theirs, path, e.Mode)
		_, isOurs := o.Known()
		if _, isTheirs := perm.Known(); isOurs && (!isTheirs || perm == b) {
			perm = o
		}
		perm = asMode(perm, e.Mode)
		if bits, known := perm.Known(); known && perm != merged.Perm(path, e.Mode) {
			merged.Unusual[path] = bits
		}
		return err
	}
	if err := s.WalkTree(tree, each); err != nil {
		return err
	}
	for _, dir := range merged.Empty {
		if err := each(dir, gitstore.TreeEntry{Mode: gitstore.ModeDir}); err != nil {
			return err
		}
	}
	return nil
}

// asMode has permission bits that are known say of a file what its mode says: whether it may
// be executed, which a side may have changed that did not change the others.
func asMode(perm documents.Perm, mode gitstore.Mode) documents.Perm {
	bits, known := perm.Known()
	switch {
	case known && mode == gitstore.ModeExec && bits&0o100 == 0:
		return documents.KnownPerm(bits | 0o100 | bits&0o044>>2)
	case known && mode == gitstore.ModeFile:
		return documents.KnownPerm(bits &^ 0o111)
	}
	return perm
}

// permOf is the permission bits of a path on a side, not known where the side has nothing
// there. mode is that of the merged tree.
func permOf(s *shadow.Store, side SideModes, path string, mode gitstore.Mode) (documents.Perm, error) {
	e, err := s.Lookup(side.Tree, path)
	switch {
	case err == nil:
		return side.Perm(path, e.Mode), nil
	case !errors.Is(err, gitstore.ErrNoEntry):
		return documents.Perm{}, err
	case mode.IsDir() && slices.Contains(side.Empty, path):
		return side.Perm(path, mode), nil
	}
	return documents.Perm{}, nil
}

// mergeEmpty merges which directories are empty.
func mergeEmpty(s *shadow.Store, tree gitstore.ID, merged *documents.Modes, base, ours, theirs SideModes) error {
	merged.Empty = nil
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(ours.Empty, theirs.Empty)))) {
		in := func(m SideModes) bool { return slices.Contains(m.Empty, dir) }
		if in(base) && !(in(ours) && in(theirs)) {
			continue // one of them removed it, or put something there
		}
		free, err := isFree(s, tree, dir)
		if err != nil {
			return err
		}
		if free {
			merged.Empty = append(merged.Empty, dir)
		}
	}
	merged.Empty = slices.DeleteFunc(merged.Empty, func(dir string) bool {
		return slices.ContainsFunc(merged.Empty, func(below string) bool { return strings.HasPrefix(below, dir+"/") })
	})
	return nil
}

// isFree reports whether a tree has nothing at a path, and no file where a directory above
// would be.
func isFree(s *shadow.Store, tree gitstore.ID, path string) (bool, error) {
	if _, err := s.Lookup(tree, path); !errors.Is(err, gitstore.ErrNoEntry) {
		return false, err
	}
	free, failed := true, error(nil)
	eachDirAbove(path, func(dir string) {
		e, err := s.Lookup(tree, dir)
		switch {
		case err == nil:
			free = free && e.Mode.IsDir()
		case !errors.Is(err, gitstore.ErrNoEntry):
			failed = err
		}
	})
	return free, failed
}

func bothKeys(a, b map[string]uint32) map[string]bool {
	keys := map[string]bool{}
	for _, m := range []map[string]uint32{a, b} {
		for path := range m {
			keys[path] = true
		}
	}
	return keys
}
