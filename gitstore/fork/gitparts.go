package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	perm   fs.FileMode // of a directory
	again  bool        // the directory's copy is there already
	items  []item      // of a directory
}

// gitNeeds names what Git itself reads in a git directory. A link there is followed; one
// by another name, as lfs, may lead to what belongs to many repositories.
var gitNeeds = map[string]bool{
	"HEAD": true, "config": true, "config.worktree": true, "hooks": true, "info": true, "logs": true,
	"objects": true, "packed-refs": true, "refs": true, "shallow": true,
}

// gitLister lists a git directory, without locks that somebody holds there and without
// the entries of its other worktrees. No link that it lists leads out of the fork.
type gitLister struct {
	dir string
	// module says that its submodules are left out too: the scan meets them by themselves.
	module bool
	// around is a directory that the copy has around it as the source has, "" for none.
	around string
}

func (l gitLister) list(ctx context.Context) ([]part, error) {
	skipped := func(at string) bool { return at == "worktrees" || l.module && at == "modules" }
	var parts []part
	// Links in links are followed as often as Git itself makes them, and no oftener.
	var list func(dir, place string, depth int) error
	list = func(dir, place string, depth int) error {
		p, links, err := l.part(ctx, dir, place, skipped)
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
				return fmt.Errorf("%s is a link to %s", joinPath(l.dir, at), target)
			default:
				if err := list(target, at, depth-1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := list(l.dir, "", 3)
	return parts, err
}

// keeps tells whether the copy of a link leads to where the link leads, in the fork:
// at is where the link is in dir, whose links are resolved.
func (l gitLister) keeps(dir, place, at, link string) bool {
	// A name before ".." may be a link, and what is meant then another directory.
	if filepath.IsAbs(link) || filepath.Clean(link) != strings.TrimSuffix(link, "/") {
		return false
	}
	if filepath.IsLocal(filepath.Join(filepath.Dir(at), link)) {
		return true
	}
	// What Git writes is the copy's own. A hook may be a file of the workspace.
	top, _, _ := strings.Cut(at, "/")
	if l.around == "" || place != "" || gitNeeds[top] && top != "hooks" {
		return false
	}
	around, err := filepath.EvalSymlinks(l.around)
	if err != nil {
		return false
	}
	meant := filepath.Join(dir, filepath.Dir(at), link)
	target, err := filepath.EvalSymlinks(meant)
	return err == nil && target == meant && inside(meant, around) && !strings.Contains(meant[len(around):]+"/", "/.git/")
}

// part lists one directory, and the links in it whose targets come along instead.
func (l gitLister) part(ctx context.Context, dir, place string, skipped func(string) bool) (part, map[string]string, error) {
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
	st, err := os.Stat(real)
	if err != nil {
		return p, nil, err
	}
	p.perm = st.Mode() & (fs.ModePerm | fs.ModeSetgid)
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
				if unread != nil {
					return unread
				}
				if !l.keeps(real, place, at, link) {
					top, _, _ := strings.Cut(join(place, at), "/")
					if err == nil && gitNeeds[top] {
						links[at] = target
					}
					continue
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

// changedError says that a file went or was written to while it was copied.
type changedError struct{ path, reason string }

func (e *changedError) Error() string { return e.path + ": " + e.reason }

// copyGitDirectory copies a git directory as it is now: agents commit while a fork is
// made, and git packs what they left. If that came between, it is listed and copied once
// more. If that fails too, the error is an *unfitError.
func (k *maker) copyGitDirectory(ctx context.Context, repo nested, target string) error {
	const attempts = 2
	for n := 1; ; n++ {
		err := k.copyOnce(ctx, repo.lister, target)
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
func (k *maker) copyOnce(ctx context.Context, l gitLister, target string) error {
	for _, objects := range []bool{false, true} {
		parts, err := l.list(ctx)
		if err != nil {
			return &changedError{l.dir, err.Error()}
		}
		for _, p := range parts {
			if p, ok := p.half(objects); ok {
				if err := copyPart(ctx, k, p, joinPath(target, p.place)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// half is what of a part is an object, or what is none; false if that is nothing.
func (p part) half(objects bool) (part, bool) {
	if p.place != "" {
		return p, objects == inside(p.place, "objects")
	}
	p.again = objects
	p.items = slices.DeleteFunc(p.items, func(i item) bool { return inside(i.path, "objects") != objects })
	return p, !objects || len(p.items) > 0
}

func copyPart(ctx context.Context, k *maker, p part, target string) error {
	if p.isFile {
		return copyLinked(k, p.source, target)
	}
	if !p.again {
		if err := os.Mkdir(target, 0o700); err != nil {
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
	return os.Chmod(target, p.perm|0o700) // its settings are still to be written
}

// copyLinked copies a file that a link leads to.
func copyLinked(k *maker, source, target string) error {
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
	reason, err := k.copyFile(p, filepath.Base(source), filepath.Base(target))
	if err == nil && reason != "" {
		err = &changedError{source, reason}
	}
	return err
}
