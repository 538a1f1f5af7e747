package fork

import (
	"context"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// file is one file or link of the snapshot.
type file struct {
	path string
	mode gitstore.Mode
	id   gitstore.ID
}

// listing is what a snapshot's tree holds.
type listing struct {
	files []file
	dirs  []string      // parents before what they hold
	trees []gitstore.ID // of dirs; of a gitlink its commit
	modes map[string]gitstore.Mode
}

// list reads a tree whole, so that a missing or hostile one is found before
// anything is made (H3, H11). What the newest capture has just made of live
// files is not read again.
func list(ctx context.Context, reader *objects.Reader, known capture.Known, tree gitstore.ID) (*listing, error) {
	l := &listing{modes: map[string]gitstore.Mode{}}
	if tree.IsZero() {
		return l, nil
	}
	add := func(path string, e gitstore.TreeEntry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return l.add(path, e)
	}
	done, err := known.WalkTree(tree, add)
	if !done {
		err = reader.WalkTree(tree, add)
	}
	if err != nil {
		return nil, fmt.Errorf("files of the snapshot: %w", err)
	}
	return l, nil
}

func (l *listing) add(path string, e gitstore.TreeEntry) error {
	if err := beneath.CheckPath(path); err != nil {
		return err
	}
	if _, double := l.modes[path]; double {
		return fmt.Errorf("%q is there twice", path)
	}
	if parent := treepath.Parent(path); parent != "" && !l.modes[parent].IsDir() {
		return fmt.Errorf("%q is no name", path)
	}
	l.modes[path] = e.Mode
	switch {
	case e.Mode.IsDir(), e.Mode == gitstore.ModeGitlink:
		l.dirs, l.trees = append(l.dirs, path), append(l.trees, e.ID)
	case e.Mode.IsBlob():
		l.files = append(l.files, file{path, e.Mode, e.ID})
	default:
		return fmt.Errorf("%q has the unknown mode %s", path, e.Mode)
	}
	return nil
}

// holdsFile tells whether the snapshot has a file or link at path.
func (l *listing) holdsFile(path string) bool { return l.modes[path].IsBlob() }

// holdsDir tells whether the snapshot has a directory at path.
func (l *listing) holdsDir(path string) bool {
	mode, ok := l.modes[path]
	return ok && !mode.IsBlob()
}
