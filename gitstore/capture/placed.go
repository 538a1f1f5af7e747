package capture

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// Placed is one entry of a snapshot's tree as it was put into a workspace.
type Placed struct {
	Path string
	Mode gitstore.Mode
	// ID is the entry's: of a directory its tree.
	ID gitstore.ID
	// Stat is what the system said of the file after it was written; the zero
	// value if that, or its content, is not known: then it is read.
	Stat beneath.Stat
	// Seeded says that the content is what a Seed has said, and was not read.
	Seeded bool
}

// ErrNotPlaced is returned by PlacedScanner for entries that are not those of a
// tree.
var ErrNotPlaced = errors.New("not the entries of a tree")

// PlacedScanner makes a Scanner for a workspace that was made from a snapshot
// by whoever tells: its first capture is a walk that reads only files which
// have changed since, or of which too little is known. Entries are those of
// tree, directories before what they hold; device is that of the workspace.
//
// A file's stat data are believed only if its time of modification was given to
// it, and is older than its status change by more than clocks are coarse: any
// write since would have brought it to the present.
func PlacedScanner(w Workspace, tree gitstore.ID, entries []Placed) (*Scanner, error) {
	s := NewScanner(w)
	top := &node{device: w.Identity.Device, tree: tree}
	dirs := map[string]*node{"": top}
	for i := range entries {
		p := &entries[i]
		above := dirs[p.Path[:max(strings.LastIndexByte(p.Path, '/'), 0)]]
		if above == nil {
			return s, ErrNotPlaced
		}
		e := entry{name: treepath.Base(p.Path), stat: fingerprintOf(&p.Stat)}
		switch {
		case p.Mode.IsDir():
			e.kind, e.dir = kindDirectory, &node{device: p.Stat.Device, tree: p.ID}
			e.stat.size, e.stat.mtime, e.stat.ctime = 0, 0, 0
			dirs[p.Path] = e.dir
		case p.Mode.IsBlob():
			e.kind, e.id = kindOf(p.Mode), p.ID
			if e.proved(&p.Stat) {
				e.flags = flagTrusted
			}
			if p.Seeded {
				e.flags |= flagSeeded
			}
		default:
			return s, ErrNotPlaced
		}
		above.entries = append(above.entries, e)
	}
	if !top.close() {
		return s, ErrNotPlaced
	}
	s.base = top
	return s, nil
}

func kindOf(mode gitstore.Mode) kind {
	switch mode {
	case gitstore.ModeSymlink:
		return kindSymlink
	case gitstore.ModeExec:
		return kindExecutable
	}
	return kindFile
}

// proved tells whether the file is of the entry's kind, and any later write
// would show.
func (e *entry) proved(st *beneath.Stat) bool {
	if !e.kind.is(st.Kind()) || e.kind != kindSymlink && (e.kind == kindExecutable) != st.Executable() {
		return false
	}
	slack := clockSlack
	if st.Mtime%int64(time.Second) == 0 || st.Ctime%int64(time.Second) == 0 {
		slack = coarseSlack
	}
	return st.Mtime < st.Ctime-int64(slack)
}

// close sorts and sums up a directory and those below it. It reports false if a
// name is there twice.
func (n *node) close() bool {
	slices.SortFunc(n.entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for i := range n.entries {
		e := &n.entries[i]
		if i > 0 && n.entries[i-1].name == e.name || e.kind == kindDirectory && !e.dir.close() {
			return false
		}
		n.sum.addEntry(e)
	}
	n.sealed = true
	return true
}
