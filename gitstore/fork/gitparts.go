package fork

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// part is a directory of a git directory, or a file that a link in it leads to. Android's
// repo shares objects and settings by such links, which would lead from a copy to
// nowhere or, if they are absolute, into the source.
type part struct {
	source string // on disk
	place  string // in the git directory, "" for itself
	isFile bool
	items  []item // of a directory
}

// gitDirectory lists a git directory, without locks that somebody holds there
// and without the entries of its other worktrees; that of a submodule without
// those of its own submodules, which the scan meets by themselves.
func gitDirectory(ctx context.Context, dir string, module bool) ([]part, error) {
	skipped := func(at string) bool { return at == "worktrees" || module && at == "modules" }
	var parts []part
	// Links in links are followed as often as Git itself makes them, and no oftener.
	var list func(dir, place string, depth int) error
	list = func(dir, place string, depth int) error {
		p, links, err := listPart(ctx, dir, place, skipped)
		if err != nil {
			return err
		}
		parts = append(parts, p)
		for at, target := range links {
			at = join(place, at)
			st, err := os.Stat(target)
			switch {
			case err != nil:
				return err
			case st.Mode().IsRegular():
				parts = append(parts, part{source: target, place: at, isFile: true, items: []item{{size: st.Size()}}})
			case !st.IsDir() || depth == 0:
				return fmt.Errorf("%s is a link to %s", joinPath(dir, at), target)
			default:
				if err := list(target, at, depth-1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return parts, list(dir, "", 3)
}

// listPart lists one directory, and the links in it that lead out of it.
func listPart(ctx context.Context, dir, place string, skipped func(string) bool) (part, map[string]string, error) {
	p, links := part{source: dir, place: place}, map[string]string{}
	root, err := beneath.Open(dir)
	if err != nil {
		return p, nil, err
	}
	defer root.Close()
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return p, nil, err
	}
	var walk func(path string) error
	walk = func(path string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if isTooDeep(path) {
			return fmt.Errorf("%s: %s", dir, reasonDepth)
		}
		names, err := root.ReadDir(path)
		if err != nil {
			return err
		}
		for _, e := range names {
			at := join(path, e.Name)
			if skipped(join(place, at)) || strings.HasSuffix(e.Name, ".lock") || beneath.IsGitDisguise(e.Name) {
				continue
			}
			st, err := root.Lstat(at)
			if vanished(err) {
				continue
			}
			if err != nil {
				return err
			}
			i := item{path: at, kind: st.Kind(), size: st.Size, perm: st.Perm()}
			switch i.kind {
			case beneath.Special:
				continue
			case beneath.Symlink:
				target, err := filepath.EvalSymlinks(joinPath(real, at))
				if err != nil && !vanished(err) {
					return err
				}
				link, unread := root.Readlink(at)
				switch {
				case unread != nil:
					return unread
				case err == nil && (filepath.IsAbs(link) || !inside(target, real)):
					links[at] = target
					continue
				case err != nil && !filepath.IsLocal(filepath.Join(filepath.Dir(at), link)):
					continue // it leads nowhere, and in a copy might lead somewhere
				}
				i.size = 0
			}
			p.items = append(p.items, i)
			if i.kind == beneath.Directory {
				if err := walk(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return p, links, walk("")
}

func (k *maker) copyGitDirectory(ctx context.Context, repo nested, target string) error {
	if err := os.Mkdir(target, 0o777); err != nil {
		return err
	}
	for _, p := range repo.parts {
		if err := copyPart(ctx, k, p, joinPath(target, p.place)); err != nil {
			return err
		}
	}
	return nil
}

func copyPart(ctx context.Context, k *maker, p part, target string) error {
	if p.isFile {
		return copyLinked(p.source, target)
	}
	if p.place != "" {
		if err := os.Mkdir(target, 0o777); err != nil {
			return err
		}
	}
	from, err := beneath.Open(p.source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := beneath.Open(target)
	if err != nil {
		return err
	}
	defer to.Close()
	j := job{from: from, to: to, items: p.items}
	left, err := k.copyItems(ctx, j)
	if err == nil {
		err = finishDirectories(j)
	}
	if err == nil && len(left) > 0 {
		err = errors.New(left[0].Path + ": " + left[0].Reason)
	}
	return err
}

// copyLinked copies a file that a link leads to.
func copyLinked(source, target string) error {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
