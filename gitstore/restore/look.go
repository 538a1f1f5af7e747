package restore

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// look is what is at a path on disk.
type look struct {
	stat  beneath.Stat
	there bool
	// why is set if the path cannot be looked at or cannot exist.
	why Reason
}

// look is remembered: a plan looks at each path once.
func (p *planner) look(path string) (look, error) {
	if l, ok := p.looks[path]; ok {
		return l, nil
	}
	l, err := lookAt(p.disk, path)
	if err == nil {
		p.looks[path] = l
	}
	return l, err
}

func lookAt(disk Disk, path string) (look, error) {
	st, err := disk.Lstat(path)
	switch {
	case err == nil:
		return look{stat: st, there: true}, nil
	case absent(err):
		return look{}, nil
	case errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EILSEQ):
		return look{why: ReasonName}, nil
	case errors.Is(err, fs.ErrPermission):
		return look{why: ReasonUnreadable}, nil
	}
	return look{}, err
}

// absent tells of the errors that mean that nothing can be at a path now: it
// is missing, or what should be a directory above it is a file or a link.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, beneath.ErrSymlink)
}

// lookup is the entry of a path, zero if the tree does not hold it.
func lookup(objects Objects, tree gitstore.ID, path string) (gitstore.TreeEntry, error) {
	if tree.IsZero() {
		return gitstore.TreeEntry{}, nil
	}
	e, err := objects.Lookup(tree, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return gitstore.TreeEntry{}, nil
	}
	return e, err
}
