package capture

import (
	"errors"
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// ErrOnlyGrown is returned for Options.LeaveGrowth: nothing was captured.
var ErrOnlyGrown = errors.New("files have grown, and nothing else has changed")

// growth compares what a walk has found with the capture before. Files that have grown,
// such as logs, are read for it, but only as far as they were captured, and not stored.
type growth struct {
	*walker
	found bool // at least one file has grown
}

// hasOnlyGrown tells whether files begin with what was captured of them, and nothing else
// is new, gone or different.
func (w *walker) hasOnlyGrown(old, now *node) bool {
	g := &growth{walker: w}
	return g.compare("", old, now) && g.found
}

func (g *growth) compare(path string, old, now *node) bool {
	if old == now {
		return true
	}
	if old == nil || now == nil || len(old.entries) != len(now.entries) || !now.own.sameRules(old.own) {
		return false
	}
	for i := range now.entries {
		was, is := &old.entries[i], &now.entries[i]
		if *was == *is || is.flags&flagRecheck != 0 {
			continue
		}
		if was.name != is.name || was.kind != is.kind || was.reason != is.reason || was.stat.mode != is.stat.mode {
			return false
		}
		same := is.kind == kindSkipped
		switch is.kind {
		case kindDirectory:
			same = g.compare(treepath.Join(path, is.name), was.dir, is.dir)
		case kindFile, kindExecutable:
			same = g.begins(treepath.Join(path, is.name), was, is)
		}
		if !same {
			return false
		}
	}
	return true
}

// begins tells whether a file begins with what was captured of it. One that can't be read
// is left to the capture.
func (g *growth) begins(path string, was, is *entry) bool {
	if is.stat.size < was.stat.size || g.ctx.Err() != nil {
		return false
	}
	f, _, err := g.root.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := gitstore.NewVerifier(gitstore.TypeBlob, was.stat.size)
	if _, err := io.CopyN(sum, f, was.stat.size); err != nil {
		return false
	}
	g.found = g.found || is.stat.size > was.stat.size
	return gitstore.ID(sum.Sum(nil)) == was.id
}
