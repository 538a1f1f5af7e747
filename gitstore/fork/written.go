package fork

import (
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// written are the files of a snapshot as they are on disk now.
type written struct {
	files []file // by path, as a tree has them and as an index has them
	// stats is what the system said of each when it had been written; the zero
	// value for one that was not.
	stats []beneath.Stat
	dirs  []beneath.Stat // of the snapshot's directories, as the listing has them
	scope string         // of the workspace, below the worktree that an index is of
}

// placed describes the whole of it to whoever captures the workspace first. What
// nobody has read in the source nobody has read here.
func (w *written) placed(list *listing, source capture.Known) []capture.Placed {
	out := make([]capture.Placed, 0, len(list.dirs)+len(list.files))
	for n, dir := range list.dirs {
		out = append(out, capture.Placed{Path: dir, Mode: list.modes[dir], ID: list.trees[n], Stat: w.dirs[n]})
	}
	for n := range list.files {
		f := &list.files[n]
		out = append(out, capture.Placed{Path: f.path, Mode: f.mode, ID: f.id, Stat: w.stats[n], Seeded: source.Seeded(f.path)})
	}
	return out
}

// cursor finds files by their paths in a worktree, which come in order.
type cursor struct {
	*written
	next int
}

// find gives a file and its stat data, which are nil if it was not written.
func (c *cursor) find(path []byte) (*file, *beneath.Stat) {
	if c.scope != "" {
		if len(path) <= len(c.scope) || string(path[:len(c.scope)]) != c.scope || path[len(c.scope)] != '/' {
			return nil, nil
		}
		path = path[len(c.scope)+1:]
	}
	for c.next < len(c.files) && c.files[c.next].path < string(path) {
		c.next++
	}
	if c.next == len(c.files) || c.files[c.next].path != string(path) || c.stats[c.next].Inode == 0 {
		return nil, nil
	}
	return &c.files[c.next], &c.stats[c.next]
}

// span is some neighbours in a list.
type span struct{ from, to int }

// byDirectory divides paths into neighbours of one directory, so many at most
// that a flat directory is shared by the workers.
func byDirectory[T interface{ where() string }](list []T) []span {
	const most = 64
	var groups []span
	for at := 0; at < len(list); {
		dir, end := treepath.Parent(list[at].where()), at+1
		for end < len(list) && end-at < most && inDirectory(list[end].where(), dir) {
			end++
		}
		groups, at = append(groups, span{at, end}), end
	}
	return groups
}

// inDirectory tells whether path is a name in dir.
func inDirectory(path, dir string) bool {
	if dir != "" {
		if len(path) <= len(dir) || path[:len(dir)] != dir || path[len(dir)] != '/' {
			return false
		}
		path = path[len(dir)+1:]
	}
	return strings.IndexByte(path, '/') < 0
}

func (i item) where() string { return i.path }

func (f file) where() string { return f.path }
