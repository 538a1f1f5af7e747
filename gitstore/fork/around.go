package fork

import (
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

// A repository may lie in the workspace beside its own worktrees, as project/.bare
// beside project/main. A fork of all of that has a repository of its own there: a
// worktree that it shared with the source would be the source's.

// around tells whether a worktree belongs to the source's repository, which has no
// work tree but those around it: they are files of the source's.
func (s *scanner) around(repo *usergit.Repository, path string, taken bool) bool {
	return s.repo != nil && s.repo.Bare && repo.Linked && sameRepository(repo, s.repo) && (taken || s.snapshot.holdsDir(path))
}

// below is where a directory on disk lies in what is scanned, "" if it does not, or is
// all of it.
func (s *scanner) below(dir string) string {
	path, ok := strings.CutPrefix(dir, strings.TrimSuffix(s.root.Path(), "/")+"/")
	if !ok {
		return ""
	}
	return filepath.ToSlash(path)
}

// shared finds the repositories whose worktrees come along. Those that are the .git of
// a directory come along as nested ones already, or not at all.
func (s *scanner) shared() error {
	found := map[string]bool{}
	add := func(common string, source bool) error {
		path := s.below(common)
		if found[common] || path == "" || treepath.Base(path) == ".git" && !source {
			return nil
		}
		found[common] = true
		if !(source && path == ".git") && s.isInsideGit(path) {
			s.leave(path, reasonInsideGit)
			return nil
		}
		n := nested{path: path, gitDir: common, store: true}
		n.pointed = source && path != ".git"
		n.lister = s.lister(n)
		if s.borrows(n) {
			s.leave(path, reasonBorrows)
			return nil
		}
		parts, err := n.lister.List(s.ctx)
		if err != nil {
			if s.ctx.Err() == nil {
				s.leave(path, reasonUnreadable)
				return nil
			}
			return err
		}
		s.remove(path) // ignored, it was met as files
		s.count(parts)
		s.repos = append(s.repos, n)
		return nil
	}
	if s.sharedToo && s.repo != nil && s.repo.Bare {
		if err := add(s.repo.CommonDir, true); err != nil {
			return err
		}
	}
	for _, n := range s.repos {
		if n.common == "" {
			continue
		}
		if err := add(n.common, false); err != nil {
			return err
		}
	}
	for _, path := range s.kept {
		if s.lends(path) {
			s.leave(path, reasonLends)
		}
	}
	return nil
}

// lends tells of a directory that a capture leaves to Git whether it is a repository that
// does not come along: one that another borrows from, and that has no work tree here.
func (s *scanner) lends(path string) bool {
	at := joinPath(s.root.Path(), path)
	for _, part := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(at, part)); err != nil {
			return false
		}
	}
	if s.repo != nil && (at == s.repo.GitDir || at == s.repo.CommonDir) {
		return false
	}
	return !slices.ContainsFunc(s.repos, func(n nested) bool { return at == n.gitDir || at == n.common })
}

// isInsideGit tells of a path that lies in a git directory, as .git/modules/sub. The copy
// of that one has no place for another's worktrees.
func (s *scanner) isInsideGit(path string) bool {
	return beneath.CheckPath(path) != nil || slices.ContainsFunc(s.repos, func(n nested) bool { return n.store && inside(path, n.path) })
}

// blocks tells whether something else is in the place of a path, or of a directory
// above it.
func (p *placer) blocks(path string) (bool, error) {
	if _, err := os.Lstat(p.at(path)); err == nil {
		return true, nil
	} else if !vanished(err) {
		return false, err
	}
	for dir := treepath.Parent(path); dir != ""; dir = treepath.Parent(dir) {
		st, err := os.Lstat(p.at(dir))
		if err == nil && !st.IsDir() || err != nil && !vanished(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// placeStore copies a repository to where its worktrees look for it.
func (p *placer) placeStore(ctx context.Context, repo nested, n int) error {
	dir := treepath.Parent(repo.path)
	if dir != "" {
		if err := p.root.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	at := p.at(repo.path)
	staged := filepath.Join(filepath.Dir(at), beneath.ScratchName(p.k.doc.Operation, n))
	if err := p.k.copier.copyGitDirectory(ctx, repo, staged); err != nil {
		return err
	}
	if err := gitdir.SetPlace(ctx, staged, ""); err != nil {
		return err
	}
	if err := os.Rename(staged, at); err != nil {
		return err
	}
	if repo.pointed {
		return pointTo(p.root.Path(), "./"+repo.path)
	}
	return nil
}

// noteBare tells what became of a bare repository that the source's directory leads to.
func noteBare(k *maker) {
	for _, n := range k.scan.repos {
		if _, err := os.Stat(joinPath(k.doc.workspace(), n.path+"/HEAD")); n.store && !n.pointed && n.path != ".git" && err == nil {
			k.note("The fork has a copy of the repository, in " + n.path + ": what is committed in the fork is in that copy alone.")
		}
	}
	if k.src.Repo == nil || !k.src.Repo.Bare {
		return
	}
	repo, err := usergit.At(k.doc.Directory)
	if err != nil || repo.Unread != nil {
		k.note("The repository is a bare one, and does not come along: the fork is a plain directory, without Git.")
		return
	}
	path, err := filepath.Rel(k.doc.Directory, repo.CommonDir)
	if err != nil {
		path = repo.CommonDir
	}
	k.note("The fork has a copy of the repository, in " + path + ": what is committed in the fork is in that copy alone.")
	if !k.src.Now {
		k.note("HEAD and index of each worktree in the fork are those of now, and its files of that moment.")
	}
}

// pointTo makes the .git of a directory, which has none.
func pointTo(dir, gitDir string) error {
	f, err := os.OpenFile(filepath.Join(dir, ".git"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString("gitdir: " + gitDir + "\n")
	return errors.Join(err, f.Close())
}

// placeLinked makes a directory of the fork a worktree of the fork's own copy of the
// repository.
func (p *placer) placeLinked(ctx context.Context, repo nested) error {
	at, admin := p.at(repo.path), p.copyOf(repo)
	if err := os.MkdirAll(filepath.Dir(admin), 0o777); err != nil {
		return err
	}
	if err := p.k.copier.copyGitDirectory(ctx, repo, admin); err != nil {
		return err
	}
	forth, err := filepath.Rel(at, admin)
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"gitdir": filepath.Join(at, ".git"), "commondir": "../.."} {
		if err := os.WriteFile(filepath.Join(admin, name), []byte(content+"\n"), 0o666); err != nil {
			return err
		}
	}
	if err := gitdir.UnsetPlace(ctx, filepath.Join(admin, "config.worktree")); err != nil {
		return err
	}
	return pointTo(at, filepath.ToSlash(forth))
}

// proveStore shows that git takes the copy for a repository.
func (p *placer) proveStore(ctx context.Context, repo nested) error {
	at := p.at(repo.path)
	dirs := []string{at}
	if repo.pointed {
		dirs = append(dirs, p.root.Path())
	}
	for _, dir := range dirs {
		inside := userGit{operation: p.k.doc.Operation, inside: dir}
		out, err := inside.run(ctx, nil, "rev-parse", "--absolute-git-dir")
		if err != nil {
			return err
		}
		if got := strings.TrimSuffix(string(out), "\n"); !disk.IsSameFile(got, at) {
			return fmt.Errorf("git in %s works in %s", dir, got)
		}
	}
	return nil
}

// proveLinked shows that the worktree belongs to the fork's own repository.
func (p *placer) proveLinked(n nested) error {
	at := p.at(n.path)
	repo, err := usergit.At(at)
	if err == nil {
		err = repo.Unread
	}
	if err != nil {
		return err
	}
	if want := p.at(n.commonPath); !disk.IsSameFile(repo.CommonDir, want) {
		return fmt.Errorf("%s belongs to %s", at, repo.CommonDir)
	}
	return nil
}
