package fork

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/gitdir"
)

// changedError says that a file went or was written to while it was copied.
type changedError struct{ path, reason string }

func (e *changedError) Error() string { return e.path + ": " + e.reason }

// copyGitDirectory copies a git directory as it is now: agents commit while a fork is
// made, and git packs what they left. If that came between, it is listed and copied once
// more. If that fails too, the error is an *unfitError.
func (c *copier) copyGitDirectory(ctx context.Context, repo nested, target string) error {
	const attempts = 2
	for n := 1; ; n++ {
		err := c.copyOnce(ctx, repo.lister, target)
		if changed := (*changedError)(nil); err == nil || ctx.Err() != nil || !errors.As(err, &changed) && !vanished(err) {
			return err
		}
		gone := beneath.RemoveTree(target)
		if n == attempts || gone != nil {
			return &unfitError{why: err, gone: gone}
		}
	}
}

// copyOnce copies the objects last, listed anew: what a copied ref names is among them.
func (c *copier) copyOnce(ctx context.Context, l gitdir.Lister, target string) error {
	for _, objects := range []bool{false, true} {
		parts, err := l.List(ctx)
		if err != nil {
			return &changedError{l.Dir, err.Error()}
		}
		for _, p := range parts {
			if p, ok := p.Half(objects); ok {
				if err := c.copyPart(ctx, p, joinPath(target, p.Place)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *copier) copyPart(ctx context.Context, p gitdir.Part, target string) error {
	if p.IsFile {
		return c.copyLinked(p.Source, target)
	}
	if !p.Again {
		if err := os.Mkdir(target, 0o700); err != nil {
			return err
		}
	}
	from, err := beneath.Open(p.Source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := beneath.Open(target)
	if err != nil {
		return err
	}
	defer to.Close()
	j := job{from: from, to: to}
	for _, i := range p.Items {
		j.items = append(j.items, item{path: i.Path, kind: i.Kind, size: i.Size, perm: i.Perm})
	}
	left, err := c.copyItems(ctx, j)
	if err == nil {
		err = finishDirectories(j)
	}
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return &changedError{left[0].Path, left[0].Reason}
	}
	inherits, err := hasDefaultACL(to)
	if err != nil {
		return err
	}
	if given, err := j.giveACL(item{}, "", inherits); given || err != nil {
		return err
	}
	return os.Chmod(target, p.Perm|0o700) // its settings are still to be written
}

// copyLinked copies a file that a link leads to.
func (c *copier) copyLinked(source, target string) error {
	in, err := beneath.Open(filepath.Dir(source))
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := beneath.Open(filepath.Dir(target))
	if err != nil {
		return err
	}
	defer out.Close()
	live, err := in.OpenDir("")
	if err != nil {
		return err
	}
	p := &place{live: live}
	if p.target, err = out.OpenDir(""); err != nil {
		live.Close()
		return err
	}
	defer p.close()
	reason, err := c.copyFile(p, filepath.Base(source), filepath.Base(target))
	if err == nil && reason != "" {
		err = &changedError{source, reason}
	}
	return err
}
