package usergit

import (
	"slices"
	"sort"
	"strings"
)

// PathSet is the paths that an index of the user's names, sorted. It keeps
// them in one string: a repository may track hundreds of thousands. A nil set
// is empty. It is immutable.
type PathSet struct {
	text string
	ends []uint32
}

// PathsBelow takes the paths below prefix ("" or "a/b/"), without it.
// Conflicted paths, several entries of an index, are one.
func (x *Index) PathsBelow(prefix string) *PathSet {
	return collectPaths(func(add func(path string)) {
		last := ""
		for _, e := range x.Entries {
			path, ok := strings.CutPrefix(e.Path, prefix)
			if !ok || path == "" || path == last || e.Mode == ModeGitlink {
				continue
			}
			last = path
			add(path)
		}
	})
}

// NewPathSet takes paths of the workspace, in any order.
func NewPathSet(paths []string) *PathSet {
	slices.Sort(paths)
	return collectPaths(func(add func(path string)) {
		for _, path := range paths {
			add(path)
		}
	})
}

func collectPaths(each func(add func(path string))) *PathSet {
	var text strings.Builder
	t := &PathSet{}
	each(func(path string) {
		text.WriteString(path)
		t.ends = append(t.ends, uint32(text.Len()))
	})
	t.text = text.String()
	return t
}

// Len is how many paths there are.
func (t *PathSet) Len() int {
	if t == nil {
		return 0
	}
	return len(t.ends)
}

// Path is the i-th of them.
func (t *PathSet) Path(i int) string {
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.text[start:t.ends[i]]
}

// from is the position of the first path that is not before p.
func (t *PathSet) from(p string) int {
	return sort.Search(t.Len(), func(i int) bool { return t.Path(i) >= p })
}

// Has tells whether a file is tracked, also by an entry of a sparse index that
// stands for a directory above it.
func (t *PathSet) Has(path string) bool {
	i := t.from(path)
	if i < t.Len() && t.Path(i) == path {
		return true
	}
	if i == 0 {
		return false
	}
	before := t.Path(i - 1)
	return strings.HasSuffix(before, "/") && strings.HasPrefix(path, before)
}

// HasBelow tells whether anything inside a directory is tracked.
func (t *PathSet) HasBelow(dir string) bool {
	prefix := dir + "/"
	i := t.from(prefix)
	return i < t.Len() && strings.HasPrefix(t.Path(i), prefix) || t.Has(dir+"/x")
}

// Difference calls fn for each path that only one of the sets holds.
func (t *PathSet) Difference(other *PathSet, fn func(path string)) {
	i, j := 0, 0
	for i < t.Len() || j < other.Len() {
		switch {
		case j == other.Len() || i < t.Len() && t.Path(i) < other.Path(j):
			fn(t.Path(i))
			i++
		case i == t.Len() || other.Path(j) < t.Path(i):
			fn(other.Path(j))
			j++
		default:
			i++
			j++
		}
	}
}
