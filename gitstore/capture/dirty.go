package capture

import (
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/ignore"
)

// Dirty is what may have changed since the capture that was accepted last.
type Dirty struct {
	// All asks for a full walk: nothing is known.
	All bool
	// Paths may have changed, each with everything below it. A file named here
	// is read whatever its stat data say.
	Paths []string
}

// dirtyTree is a set of dirty paths by components.
type dirtyTree struct {
	whole bool // this path, and everything below it
	below map[string]*dirtyTree
}

// add puts path into the set; "" is the root.
func (t *dirtyTree) add(path string) { t.make(path).whole = true }

// look puts a file into the set whose stat data alone are to be looked at, and
// reports whether it was not in it.
func (t *dirtyTree) look(path string) bool {
	if t.covers(path) {
		return false
	}
	t.make(path)
	return true
}

// make is the subtree of a path.
func (t *dirtyTree) make(path string) *dirtyTree {
	for path != "" {
		name, rest, _ := strings.Cut(path, "/")
		if name != "" {
			if t.below == nil {
				t.below = map[string]*dirtyTree{}
			}
			next := t.below[name]
			if next == nil {
				next = &dirtyTree{}
				t.below[name] = next
			}
			t = next
		}
		path = rest
	}
	return t
}

// covers tells whether a path, or one above it, is in the set.
func (t *dirtyTree) covers(path string) bool {
	for path != "" && t != nil && !t.whole {
		name, rest, _ := strings.Cut(path, "/")
		t, path = t.at(name), rest
	}
	return t != nil
}

// names are the components below, sorted.
func (t *dirtyTree) names() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.below))
}

func (t *dirtyTree) at(name string) *dirtyTree {
	if t == nil {
		return nil
	}
	return t.below[name]
}

// named tells whether the path itself was named.
func (t *dirtyTree) named() bool { return t != nil && t.whole }

// coversBelow tells whether a path, or a directory above it other than the root, was
// named.
func (t *dirtyTree) coversBelow(path string) bool {
	for path != "" && t != nil {
		var name string
		name, path, _ = strings.Cut(path, "/")
		if t = t.at(name); t.named() {
			return true
		}
	}
	return false
}

// hasRules tells whether a name that changes the rules of the directory is dirty.
func (t *dirtyTree) hasRules() bool {
	return t.at(ignore.GitName) != nil || t.at(ignore.UmbraName) != nil || t.at(gitName) != nil
}

func (t *dirtyTree) clone() *dirtyTree {
	c := &dirtyTree{whole: t.whole}
	if t.below != nil {
		c.below = make(map[string]*dirtyTree, len(t.below))
		for name, below := range t.below {
			c.below[name] = below.clone()
		}
	}
	return c
}
