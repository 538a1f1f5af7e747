package fork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// The reasons why a nested repository comes along as plain files.
const (
	reasonMoment    = "a repository of its own: its files are of the moment, its .git is not known"
	reasonElsewhere = "its .git leads to a repository elsewhere, which would be shared"
	reasonUnfit     = "git does not work in a copy of it: "
	reasonBroken    = "its .git is not a repository that can be read"
)

// nested is a repository inside the live workspace that comes along as one.
type nested struct {
	path   string // of its top level
	gitDir string // on disk
	// module is its name among the source's submodules; "" if its git
	// directory is the .git inside it.
	module string
	items  []item // of gitDir
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
			s.leave(join(path, ".git"), whyNot(err))
		}
		return false, nil
	}
	around := s.repo != nil && s.repo.Bare && s.snapshot.holdsDir(path) // a bare repository's worktrees are files of what is around it
	if s.repo != nil && repo.Linked && sameRepository(repo, s.repo) && !around {
		s.leave(path, reasonWorktree)
		return true, nil
	}
	if !s.nestedToo(path, taken) {
		s.leave(join(path, ".git"), reasonMoment)
		return false, nil
	}
	n := nested{path: path, gitDir: repo.GitDir}
	switch {
	case repo.GitDir == filepath.Join(repo.TopLevel, ".git") && repo.CommonDir == repo.GitDir:
	case s.module(repo) != "":
		n.module = s.module(repo)
	case repo.CommonDir == repo.GitDir && inside(repo.GitDir, s.root.Path()) && sameFile(repo.TopLevel, joinPath(s.root.Path(), path)):
		// The fork has in its place what .git leads to in the source.
	default:
		s.leave(join(path, ".git"), reasonElsewhere)
		return false, nil
	}
	if n.items, err = gitDirectory(s.ctx, n.gitDir, n.module != ""); err != nil {
		if s.ctx.Err() != nil {
			return false, s.ctx.Err()
		}
		s.leave(join(path, ".git"), reasonUnreadable)
		return false, nil
	}
	for _, i := range n.items {
		if i.kind != beneath.Directory {
			s.files++
			s.bytes += i.size
		}
	}
	s.repos = append(s.repos, n)
	return false, nil
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

// gitDirectory lists a git directory, without locks that somebody holds there
// and without the entries of its other worktrees; that of a submodule without
// those of its own submodules, which the scan meets by themselves.
func gitDirectory(ctx context.Context, dir string, module bool) ([]item, error) {
	root, err := beneath.Open(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var items []item
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
			if at == "worktrees" || module && at == "modules" || strings.HasSuffix(e.Name, ".lock") || beneath.IsGitDisguise(e.Name) {
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
				i.size = 0
			}
			items = append(items, i)
			if i.kind == beneath.Directory {
				if err := walk(at); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return items, walk("")
}

// placeNested makes the copies of nested repositories' git directories and
// puts each in its place below top, which is seen from the workspace as prefix.
func (k *maker) placeNested(ctx context.Context, repos []nested, top, prefix string) error {
	root, err := beneath.Open(top)
	if err != nil {
		return err
	}
	defer root.Close()
	for n, repo := range repos {
		st, err := root.Lstat(repo.path)
		switch {
		case err != nil || st.Kind() != beneath.Directory:
			k.leave(prefix+join(repo.path, ".git"), reasonInTheWay)
			continue
		case repo.module == "":
			err = k.placeOwn(ctx, repo, top, n)
		case k.git == nil:
			k.leave(prefix+join(repo.path, ".git"), reasonElsewhere)
			continue
		default:
			err = k.placeModule(ctx, repo, top)
		}
		if err == nil {
			err = repo.prove(ctx, k.doc.Operation, joinPath(top, repo.path), repo.copyOf(k.git, top))
			if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
				k.leave(prefix+join(repo.path, ".git"), reasonUnfit+unfit.why.Error())
				err = unfit.gone
			}
		}
		if err != nil {
			return fmt.Errorf("nested repository %s: %w", repo.path, err)
		}
	}
	return nil
}

// unfitError says of a nested repository's copy that git does not work in it, and
// whether it could be taken away again.
type unfitError struct{ why, gone error }

func (e *unfitError) Error() string { return e.why.Error() }

// prove shows that git works in a nested repository's copy. One that it does not
// work in goes again, as an *unfitError says: no Git is better than that of another
// directory.
func (n nested) prove(ctx context.Context, operation, at, gitDir string) error {
	g, err := openUserGit(ctx, operation, gitDir, at)
	if err == nil {
		err = g.worksIn(ctx, at, gitDir)
	}
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &unfitError{err, errors.Join(beneath.RemoveTree(filepath.Join(at, ".git")), beneath.RemoveTree(gitDir))}
}

// copyOf is where the copy of a nested repository's git directory is.
func (n nested) copyOf(g *userGit, top string) string {
	if n.module == "" {
		return filepath.Join(joinPath(top, n.path), ".git")
	}
	return joinPath(filepath.Join(g.admin, "modules"), n.module)
}

// placeOwn copies a ".git" directory under a name of Umbra's, since a path
// that holds ".git" is refused below a root, and then renames it.
func (k *maker) placeOwn(ctx context.Context, repo nested, top string, n int) error {
	at := joinPath(top, repo.path)
	staged := filepath.Join(at, beneath.ScratchName(k.doc.Operation, n))
	if err := k.copyGitDirectory(ctx, repo, staged); err != nil {
		return err
	}
	if err := setPlace(ctx, staged, ""); err != nil {
		return err
	}
	return os.Rename(staged, filepath.Join(at, ".git"))
}

// placeModule gives the new worktree a copy of a submodule's git directory,
// where git itself would have cloned it.
func (k *maker) placeModule(ctx context.Context, repo nested, top string) error {
	target := repo.copyOf(k.git, top)
	if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
		return err
	}
	if err := k.copyGitDirectory(ctx, repo, target); err != nil {
		return err
	}
	at := joinPath(top, repo.path)
	back, err := filepath.Rel(target, at)
	if err != nil {
		return err
	}
	forth, err := filepath.Rel(at, target)
	if err != nil {
		return err
	}
	if err := setPlace(ctx, target, filepath.ToSlash(back)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(at, ".git"), []byte("gitdir: "+filepath.ToSlash(forth)+"\n"), 0o666)
}

// setPlace says in a copied git directory where its work tree is; "" that it is
// around it, as Git takes it to be. It is said in the file where it was: in the own
// one of the main worktree, once each has its own.
func setPlace(ctx context.Context, gitDir, place string) error {
	config, err := os.ReadFile(filepath.Join(gitDir, "config"))
	if err != nil {
		return err
	}
	own, err := os.ReadFile(filepath.Join(gitDir, "config.worktree"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	inOwn := named(own, "worktree") && named(config, "worktreeconfig")
	for _, file := range []struct {
		name     string
		says, in bool
	}{{"config.worktree", named(own, "worktree"), inOwn}, {"config", named(config, "worktree"), !inOwn}} {
		args := []string{"config", "--file", filepath.Join(gitDir, file.name)}
		switch {
		case place != "" && file.in:
			args = append(args, "--replace-all", "core.worktree", place)
		case file.says:
			args = append(args, "--unset-all", "core.worktree")
		default:
			continue
		}
		// For none of the repositories: git would go where this one says.
		c := git.Command{GitDir: os.DevNull, Dir: gitDir, Args: args}
		if _, err := git.Run(ctx, c); err != nil && !exitedWith(err, 5) { // it was not set
			return err
		}
	}
	return nil
}

// named tells whether a configuration file may have a setting of that name.
func named(config []byte, name string) bool {
	return bytes.Contains(bytes.ToLower(config), []byte(name))
}

func (k *maker) copyGitDirectory(ctx context.Context, repo nested, target string) error {
	if err := os.Mkdir(target, 0o777); err != nil {
		return err
	}
	from, err := beneath.Open(repo.gitDir)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := beneath.Open(target)
	if err != nil {
		return err
	}
	defer to.Close()
	j := job{from: from, to: to, items: repo.items}
	left, err := k.copyItems(ctx, j)
	if err == nil {
		err = finishDirectories(j)
	}
	if err == nil && len(left) > 0 {
		err = errors.New(left[0].Path + ": " + left[0].Reason)
	}
	return err
}
