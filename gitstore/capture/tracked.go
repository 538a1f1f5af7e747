package capture

import (
	"slices"
	"sort"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// trackedSet is the paths that an index of the user's names, sorted. It keeps
// them in one string: a repository may track hundreds of thousands. A nil set
// is empty. It is immutable.
type trackedSet struct {
	text string
	ends []uint32
}

// newTrackedSet takes the paths below prefix ("" or "a/b/"), without it.
// Conflicted paths, several entries of an index, are one.
func newTrackedSet(index *usergit.Index, prefix string) *trackedSet {
	return collectTracked(func(add func(path string)) {
		last := ""
		for _, e := range index.Entries {
			path, ok := strings.CutPrefix(e.Path, prefix)
			if !ok || path == "" || path == last || e.Mode == usergit.ModeGitlink {
				continue
			}
			last = path
			add(path)
		}
	})
}

// newTrackedPaths takes paths of the workspace, in any order.
func newTrackedPaths(paths []string) *trackedSet {
	slices.Sort(paths)
	return collectTracked(func(add func(path string)) {
		for _, path := range paths {
			add(path)
		}
	})
}

func collectTracked(each func(add func(path string))) *trackedSet {
	var text strings.Builder
	t := &trackedSet{}
	each(func(path string) {
		text.WriteString(path)
		t.ends = append(t.ends, uint32(text.Len()))
	})
	t.text = text.String()
	return t
}

func (t *trackedSet) len() int {
	if t == nil {
		return 0
	}
	return len(t.ends)
}

func (t *trackedSet) path(i int) string {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:t.ends[i]]
}

// from is the position of the first path that is not before p.
func (t *trackedSet) from(p string) int {
	return sort.Search(t.len(), func(i int) bool { return t.path(i) >= p })
}

// has tells whether a file is tracked, also by an entry of a sparse index that
// stands for a directory above it.
func (t *trackedSet) has(path string) bool {
	i := t.from(path)
	if i < t.len() && t.path(i) == path {
		return true
	}
	if i == 0 {
		return false
	}
	before := t.path(i - 1)
	return strings.HasSuffix(before, "/") && strings.HasPrefix(path, before)
}

// hasBelow tells whether anything inside a directory is tracked.
func (t *trackedSet) hasBelow(dir string) bool {
	prefix := dir + "/"
	i := t.from(prefix)
	return i < t.len() && strings.HasPrefix(t.path(i), prefix) || t.has(dir+"/x")
}

// difference calls fn for each path that only one of the sets holds.
func (t *trackedSet) difference(other *trackedSet, fn func(path string)) {
	i, j := 0, 0
	for i < t.len() || j < other.len() {
		switch {
		case j == other.len() || i < t.len() && t.path(i) < other.path(j):
			fn(t.path(i))
			i++
		case i == t.len() || other.path(j) < t.path(i):
			fn(other.path(j))
			j++
		default:
			i++
			j++
		}
	}
}

// repository is the user's repository that holds a directory of the workspace:
// the one around it or a nested one. Nil stands for none.
type repository struct {
	base    string // of its top level in the workspace: "" or "a/b/"
	tracked *trackedSet
}

func (r *repository) has(path string) bool {
	return r != nil && r.tracked.has(strings.TrimPrefix(path, r.base))
}

func (r *repository) hasBelow(dir string) bool {
	return r != nil && r.tracked.hasBelow(strings.TrimPrefix(dir, r.base))
}
