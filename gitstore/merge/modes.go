package merge

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// Modes merges what trees cannot hold: theirs, changed as ours is since the base where
// theirs is as the base. In tree, the merged one, directories that were empty may hold
// files.
func Modes(s *shadow.Store, tree gitstore.ID, base, ours, theirs *capture.Modes) (*capture.Modes, error) {
	merged := *theirs
	merged.Unusual = maps.Clone(theirs.Unusual)
	if merged.Unusual == nil {
		merged.Unusual = map[string]uint32{}
	}
	for path := range bothKeys(base.Unusual, ours.Unusual) {
		then, thenSet := base.Unusual[path]
		now, nowSet := ours.Unusual[path]
		their, theirSet := theirs.Unusual[path]
		switch {
		case now == then && nowSet == thenSet, their != then || theirSet != thenSet:
		case nowSet:
			merged.Unusual[path] = now
		default:
			delete(merged.Unusual, path)
		}
	}
	merged.Empty = nil
	for _, dir := range slices.Compact(slices.Sorted(slices.Values(slices.Concat(ours.Empty, theirs.Empty)))) {
		in := func(m *capture.Modes) bool { return slices.Contains(m.Empty, dir) }
		if in(base) && !(in(ours) && in(theirs)) {
			continue // one of them removed it, or put something there
		}
		free, err := isFree(s, tree, dir)
		if err != nil {
			return nil, err
		}
		if free {
			merged.Empty = append(merged.Empty, dir)
		}
	}
	merged.Empty = slices.DeleteFunc(merged.Empty, func(dir string) bool {
		return slices.ContainsFunc(merged.Empty, func(below string) bool { return strings.HasPrefix(below, dir+"/") })
	})
	return &merged, nil
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
