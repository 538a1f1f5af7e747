package gitdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// Part is a directory of a git directory, or a file that a link in it leads to. Android's
// repo shares objects and settings by such links, which would lead from a copy to
// nowhere or, if they are absolute, into the source.
type Part struct {
	Source string // on disk
	Place  string // in the git directory, "" for itself
	IsFile bool
	Perm   fs.FileMode // of a directory
	Again  bool        // the directory's copy is there already
	Items  []Item      // of a directory; directories before what they hold
}

// Item is something in a directory of a git directory.
type Item struct {
	Path string // below the part's source
	Kind beneath.Kind
	Size int64
	Perm uint32
}

// gitNeeds names what Git itself reads in a git directory. A link there is followed; one
// by another name, as lfs, may lead to what belongs to many repositories.
var gitNeeds = map[string]bool{
	"HEAD": true, "config": true, "config.worktree": true, "hooks": true, "info": true, "logs": true,
	"objects": true, "packed-refs": true, "refs": true, "shallow": true,
}

// Lister lists a git directory, without locks that somebody holds there and without
// the entries of its other worktrees. No link that it lists leads out of the copy's
// surroundings.
type Lister struct {
	Dir string
	// Module says that its submodules are left out too: they are copied by themselves.
	Module bool
	// Around is a directory that the copy has around it as the source has, "" for none.
	Around string
}

// deepest is below how many directories a walk ends: somebody may make them ahead of it.
const deepest = 2048

// List lists what the copy gets.
func (l Lister) List(ctx context.Context) ([]Part, error) {
	skipped := func(at string) bool { return at == "worktrees" || l.Module && at == "modules" }
	var parts []Part
	// Links in links are followed as often as Git itself makes them, and no oftener.
	var list func(dir, place string, depth int) error
	list = func(dir, place string, depth int) error {
		p, links, err := l.part(ctx, dir, place, skipped)
		if err != nil {
			return err
		}
		parts = append(parts, p)
		for at, target := range links {
			at = path.Join(place, at)
			st, err := os.Stat(target)
			switch {
			case err != nil:
				return err
			case st.Mode().IsRegular():
				parts = append(parts, Part{Source: target, Place: at, IsFile: true, Items: []Item{{Size: st.Size()}}})
			case !st.IsDir() || depth == 0:
				return fmt.Errorf("%s is a link to %s", filepath.Join(l.Dir, at), target)
			default:
				if err := list(target, at, depth-1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := list(l.Dir, "", 3)
	return parts, err
}

// keeps tells whether the copy of a link leads to where the link leads, in the fork:
// at is where the link is in dir, whose links are resolved.
func (l Lister) keeps(dir, place, at, link string) bool {
	// A name before ".." may be a link, and what is meant then another directory.
	if filepath.IsAbs(link) || filepath.Clean(link) != strings.TrimSuffix(link, "/") {
		return false
	}
	if filepath.IsLocal(filepath.Join(filepath.Dir(at), link)) {
		return true
	}
	// What Git writes is the copy's own. A hook may be a file of the workspace.
	top, _, _ := strings.Cut(at, "/")
	if l.Around == "" || place != "" || gitNeeds[top] && top != "hooks" {
		return false
	}
	around, err := filepath.EvalSymlinks(l.Around)
	if err != nil {
		return false
	}
	meant := filepath.Join(dir, filepath.Dir(at), link)
	target, err := filepath.EvalSymlinks(meant)
	return err == nil && target == meant && strings.HasPrefix(meant+"/", around+"/") && !strings.Contains(meant[len(around):]+"/", "/.git/")
}

// part lists one directory, and the links in it whose targets come along instead.
func (l Lister) part(ctx context.Context, dir, place string, skipped func(string) bool) (Part, map[string]string, error) {
	p, links := Part{Source: dir, Place: place}, map[string]string{}
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
	p.Perm = st.Mode() & (fs.ModePerm | fs.ModeSetgid)
	var walk func(below string) error
	walk = func(below string) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.Count(below, "/") >= deepest {
			return fmt.Errorf("%s: below more than %d directories", dir, deepest)
		}
		names, err := root.ReadDir(below)
		if err != nil {
			return err
		}
		for _, e := range names {
			at := path.Join(below, e.Name)
			if skipped(path.Join(place, at)) || strings.HasSuffix(e.Name, ".lock") || beneath.IsGitDisguise(e.Name) {
				continue
			}
			st, err := root.Lstat(at)
			if vanished(err) {
				continue
			}
			if err != nil {
				return err
			}
			i := Item{Path: at, Kind: st.Kind(), Size: st.Size, Perm: st.Perm()}
			switch i.Kind {
			case beneath.Special:
				continue
			case beneath.Symlink:
				target, err := filepath.EvalSymlinks(filepath.Join(real, at))
				if err != nil && !vanished(err) {
					return err
				}
				link, unread := root.Readlink(at)
				if unread != nil {
					return unread
				}
				if !l.keeps(real, place, at, link) {
					top, _, _ := strings.Cut(path.Join(place, at), "/")
					if err == nil && gitNeeds[top] {
						links[at] = target
					}
					continue
				}
				i.Size = 0
			}
			p.Items = append(p.Items, i)
			if i.Kind == beneath.Directory {
				if err := walk(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return p, links, walk("")
}

// Half is what of a part is an object, or what is none; false if that is nothing.
func (p Part) Half(objects bool) (Part, bool) {
	if p.Place != "" {
		return p, objects == isObject(p.Place)
	}
	p.Again = objects
	p.Items = slices.DeleteFunc(p.Items, func(i Item) bool { return isObject(i.Path) != objects })
	return p, !objects || len(p.Items) > 0
}

func isObject(place string) bool { return strings.HasPrefix(place+"/", "objects/") }

func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
