package restore

import (
	"errors"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore/attributes"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Remember adds to a plan that is to be carried out what the files and directories that
// it takes away have beside their content, so that its inverse can give it back. It looks
// at these alone. What can't be looked at is not remembered.
func (p *Plan) Remember(root *beneath.Root) error {
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.From == nil || c.Action() == Chmod {
			continue
		}
		kept, err := keptAt(root, c.Path)
		if err != nil {
			return err
		}
		from := *c.From
		from.Kept, c.From = kept, &from
	}
	for i := range p.RemoveDirs {
		d := &p.RemoveDirs[i]
		var err error
		if d.Kept, err = keptAt(root, d.Path); err != nil {
			return err
		}
	}
	return nil
}

// keptAt is nil where nothing is, or may be looked at.
func keptAt(root *beneath.Root, path string) (*attributes.Kept, error) {
	l, err := lookAt(root, path)
	if err != nil || !l.there {
		return nil, err
	}
	switch l.stat.Kind() {
	case beneath.File:
		file, st, err := root.Open(path)
		if err != nil {
			return withoutContent(l.stat, err)
		}
		defer file.Close()
		return attributes.Of(file, st), nil
	case beneath.Directory:
		dir, err := root.OpenDir(path)
		if err != nil {
			return withoutContent(l.stat, err)
		}
		defer dir.Close()
		return attributes.Of(dir, l.stat), nil
	case beneath.Symlink:
		return attributes.OfStat(l.stat), nil
	}
	return nil, nil
}

// withoutContent is of a path that could not be opened: it may not be read, or is
// something else by now.
func withoutContent(st beneath.Stat, err error) (*attributes.Kept, error) {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return attributes.Unopened(st), nil
	case absent(err), errors.Is(err, beneath.ErrNotRegular):
		return nil, nil
	}
	return nil, err
}
