package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/gitdir"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// The reasons why a nested repository comes along as plain files.
const (
	reasonMoment    = "a repository of its own: its files are of the moment, its .git is not known"
	reasonElsewhere = "its .git leads to a repository elsewhere, which would be shared"
	reasonUnfit     = "git does not work in a copy of it: "
	reasonNotAlong  = "its repository does not come along"
	reasonInsideGit = "it lies in another repository, whose copy would not have it there"
	reasonBorrows   = "it has objects of another repository (objects/info/alternates), which a copy would not have"
	reasonLends     = "a repository whose objects another one borrows: no snapshot holds it"
	reasonBroken    = "its .git is not a repository that can be read"
)

// nested is a repository inside the live workspace that comes along as one.
type nested struct {
	path   string // of its top level
	gitDir string // on disk
	// module is its name among the source's submodules; "" if its git
	// directory is the .git inside it.
	module string
	// common is the repository of a linked worktree, which lies in the workspace too, at
	// commonPath; "" for others.
	common, commonPath string
	// store says that it is such a repository: path is its own. It is pointed to by the
	// .git of what is scanned.
	store, pointed bool
	lister         gitdir.Lister // of gitDir
}

// repository decides about the ".git" in a directory. It reports whether the
// directory stays behind as a whole.
func (s *scanner) repository(path string, taken bool) (stay bool, err error) {
	repo, err := usergit.At(joinPath(s.root.Path(), path))
	if err == nil {
		err = repo.Unread
	}
	if err != nil {
		if taken || s.nestedToo(path, taken) {
			s.leave(treepath.Join(path, ".git"), whyNot(err))
		}
		return false, nil
	}
	around := s.around(repo, path, taken)
	if s.repo != nil && repo.Linked && sameRepository(repo, s.repo) && !around {
		s.leave(path, reasonWorktree)
		return true, nil
	}
	if !s.nestedToo(path, taken) && !(around && s.sharedToo) {
		s.leave(treepath.Join(path, ".git"), reasonMoment)
		return false, nil
	}
	n := nested{path: path, gitDir: repo.GitDir}
	switch {
	case repo.GitDir == filepath.Join(repo.TopLevel, ".git") && repo.CommonDir == repo.GitDir:
	case s.module(repo) != "":
		n.module = s.module(repo)
	case repo.CommonDir == repo.GitDir && inside(repo.GitDir, s.root.Path()) && disk.IsSameFile(repo.TopLevel, joinPath(s.root.Path(), path)):
		// The fork has in its place what .git leads to in the source.
	case repo.Linked && s.below(repo.CommonDir) != "" && filepath.Dir(repo.GitDir) == filepath.Join(repo.CommonDir, "worktrees"):
		n.common, n.commonPath = repo.CommonDir, s.below(repo.CommonDir)
	default:
		s.leave(treepath.Join(path, ".git"), reasonElsewhere)
		return false, nil
	}
	n.lister = s.lister(n)
	if s.borrows(n) {
		s.leave(treepath.Join(path, ".git"), reasonBorrows)
		return false, nil
	}
	parts, err := n.lister.List(s.ctx)
	if err != nil {
		if s.ctx.Err() != nil {
			return false, s.ctx.Err()
		}
		s.leave(treepath.Join(path, ".git"), reasonUnreadable)
		return false, nil
	}
	s.count(parts)
	s.repos = append(s.repos, n)
	return false, nil
}

// borrows tells whether a repository has objects that a copy would have of the source's
// workspace, or not at all: those of a relative path lead elsewhere from a copy.
func (s *scanner) borrows(n nested) bool {
	// A lender may borrow too, as often as Git follows.
	var borrows func(objects string, lenders int) bool
	borrows = func(objects string, lenders int) bool {
		content, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
		for line := range strings.Lines(string(content)) {
			line = strings.TrimSpace(line)
			if line == "" || line[0] == '#' {
				continue
			}
			if !filepath.IsAbs(line) {
				if lenders == 0 {
					return true
				}
				line = filepath.Join(objects, line)
			}
			// A submodule's copy lies in the source's repository itself.
			own := n.module != "" && inside(line, s.repo.CommonDir)
			if !own && (leadsInto(filepath.Clean(line), []string{s.root.Path()}) || lenders < 5 && borrows(line, lenders+1)) {
				return true
			}
		}
		return lenders == 0 && err != nil && !vanished(err)
	}
	return borrows(filepath.Join(n.gitDir, "objects"), 0)
}

// lister lists the git directory of a nested repository.
func (s *scanner) lister(n nested) gitdir.Lister {
	l := gitdir.Lister{Dir: n.gitDir, Module: n.module != "" || n.common != ""}
	if n.module == "" && n.copyOf(nil, s.root.Path()) == n.gitDir {
		l.Around = s.root.Path()
	}
	return l
}

func (s *scanner) count(parts []gitdir.Part) {
	for _, p := range parts {
		for _, i := range p.Items {
			if i.Kind != beneath.Directory {
				s.countFile(p.Source, i.Path, i.Size)
			}
		}
	}
}

// whyNot is the reason for which a .git that leads to no repository stays behind.
func whyNot(err error) string {
	damaged := (*usergit.DamagedError)(nil)
	if errors.Is(err, usergit.ErrNoRepository) || errors.As(err, &damaged) {
		return reasonBroken
	}
	return reasonUnreadable
}

func sameRepository(a, b *usergit.Repository) bool {
	x, err := a.Identity()
	if err != nil {
		return a.CommonDir == b.CommonDir
	}
	y, err := b.Identity()
	return err == nil && x.Device == y.Device && x.Inode == y.Inode
}

// module is the name of a submodule whose git directory lies in the source's.
func (s *scanner) module(repo *usergit.Repository) string {
	if s.repo == nil || repo.Linked {
		return ""
	}
	name, ok := strings.CutPrefix(repo.GitDir, filepath.Join(s.repo.GitDir, "modules")+string(filepath.Separator))
	if !ok {
		return ""
	}
	return filepath.ToSlash(name)
}

// placeNested makes the copies of nested repositories' git directories, which are below
// from, and puts each in its place below top, which is seen from the workspace as prefix.
// What it returns has their settings name the fork, once all of that is there.
func (k *maker) placeNested(ctx context.Context, s scan, from, top, prefix string) (redirect func(context.Context) error, err error) {
	root, err := beneath.Open(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// A worktree is made once its repository is there.
	repos := slices.Clone(s.repos)
	slices.SortStableFunc(repos, func(a, b nested) int { return cmp.Compare(a.order(), b.order()) })
	p := &placer{k: k, root: root, from: from, prefix: prefix, placed: map[string]bool{}}
	var along []nested
	for n, repo := range repos {
		reason, err := p.placeOne(ctx, repo, n)
		if err != nil {
			return nil, fmt.Errorf("nested repository %s: %w", repo.path, err)
		}
		if reason != "" {
			k.leave(prefix+repo.dotGit(), reason)
			continue
		}
		p.placed[p.copyOf(repo)] = true
		along = append(along, repo)
	}
	return func(ctx context.Context) error { return p.redirect(ctx, slices.Concat(along, s.dirs)) }, nil
}

// placer puts repositories in their places below a root.
type placer struct {
	k      *maker
	root   *beneath.Root
	from   string          // what is copied to root
	prefix string          // of root, as seen from the workspace
	placed map[string]bool // the copies of git directories that are there
}

// at is where a path is on disk.
func (p *placer) at(path string) string { return joinPath(p.root.Path(), path) }

// copyOf is where the copy of a repository's git directory is.
func (p *placer) copyOf(n nested) string { return n.copyOf(p.k.git, p.root.Path()) }

// order has repositories before their worktrees.
func (n nested) order() int {
	if n.common != "" {
		return 1
	}
	return 0
}

// dotGit is the path that a repository which does not come along is told of by.
func (n nested) dotGit() string {
	if n.store {
		return n.path
	}
	return treepath.Join(n.path, ".git")
}

// placeOne puts one nested repository in its place, or says why it does not come along.
func (p *placer) placeOne(ctx context.Context, repo nested, n int) (string, error) {
	if repo.store {
		if blocked, err := p.blocks(repo.path); blocked || err != nil {
			return reasonInTheWay, err
		}
	} else {
		if st, err := p.root.Lstat(repo.path); err != nil || st.Kind() != beneath.Directory {
			return reasonInTheWay, nil
		}
	}
	var err error
	switch {
	case repo.store:
		err = p.placeStore(ctx, repo, n)
	case repo.common != "" && !p.placed[p.at(repo.commonPath)]:
		return reasonNotAlong, nil
	case repo.common != "":
		err = p.placeLinked(ctx, repo)
	case repo.module == "":
		err = p.placeOwn(ctx, repo, n)
	case p.k.git == nil:
		return reasonElsewhere, nil
	default:
		err = p.placeModule(ctx, repo)
	}
	if err == nil {
		err = p.proveNested(ctx, repo)
	}
	if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
		return reasonUnfit + unfit.why.Error(), unfit.gone
	}
	return "", err
}

// unfitError says of a nested repository's copy that git does not work in it, and
// whether it could be taken away again.
type unfitError struct{ why, gone error }

func (e *unfitError) Error() string { return e.why.Error() }

// proveNested shows that git works in a nested repository's copy. One that it does not
// work in goes again, as an *unfitError says: no Git is better than that of another
// directory.
func (p *placer) proveNested(ctx context.Context, n nested) error {
	at, gitDir := p.at(n.path), p.copyOf(n)
	gone := []string{filepath.Join(at, ".git"), gitDir}
	var err error
	if n.store {
		gone = []string{gitDir}
		if n.pointed {
			gone = append(gone, p.at(".git"))
		}
		err = p.proveStore(ctx, n)
	} else {
		var g *userGit
		if g, err = openUserGit(ctx, p.k.doc.Operation, gitDir, at); err == nil {
			err = g.worksIn(ctx, at, gitDir)
		}
		if err == nil && n.common != "" {
			err = p.proveLinked(n)
		}
	}
	if err == nil {
		err = p.complete(ctx, n)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	unfit := &unfitError{why: err}
	for _, path := range gone {
		unfit.gone = errors.Join(unfit.gone, beneath.RemoveTree(path))
	}
	return unfit
}

// copyOf is where the copy of a nested repository's git directory is.
func (n nested) copyOf(g *userGit, top string) string {
	switch {
	case n.store:
		return joinPath(top, n.path)
	case n.common != "":
		return filepath.Join(joinPath(top, n.commonPath), "worktrees", filepath.Base(n.gitDir))
	case n.module == "":
		return filepath.Join(joinPath(top, n.path), ".git")
	}
	return joinPath(filepath.Join(g.admin, "modules"), n.module)
}

// placeOwn copies a ".git" directory under a name of Umbra's, since a path
// that holds ".git" is refused below a root, and then renames it.
func (p *placer) placeOwn(ctx context.Context, repo nested, n int) error {
	at := p.at(repo.path)
	staged := filepath.Join(at, beneath.ScratchName(p.k.doc.Operation, n))
	if err := p.k.copier.copyGitDirectory(ctx, repo, staged); err != nil {
		return err
	}
	if err := gitdir.SetPlace(ctx, staged, ""); err != nil {
		return err
	}
	return os.Rename(staged, filepath.Join(at, ".git"))
}

// placeModule gives the new worktree a copy of a submodule's git directory,
// where git itself would have cloned it.
func (p *placer) placeModule(ctx context.Context, repo nested) error {
	target := p.copyOf(repo)
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	if err := p.k.copier.copyGitDirectory(ctx, repo, target); err != nil {
		return err
	}
	at := p.at(repo.path)
	back, err := filepath.Rel(target, at)
	if err != nil {
		return err
	}
	forth, err := filepath.Rel(at, target)
	if err != nil {
		return err
	}
	if err := gitdir.SetPlace(ctx, target, filepath.ToSlash(back)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, ".git"), []byte("gitdir: "+filepath.ToSlash(forth)+"\n"), 0o666)
}
