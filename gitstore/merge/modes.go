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
		_, err := s.Lookup(tree, dir)
		if errors.Is(err, gitstore.ErrNoEntry) {
			merged.Empty = append(merged.Empty, dir)
		} else if err != nil {
			return nil, err
		}
	}
	merged.Empty = slices.DeleteFunc(merged.Empty, func(dir string) bool {
		return slices.ContainsFunc(merged.Empty, func(below string) bool { return strings.HasPrefix(below, dir+"/") })
	})
	return &merged, nil
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
