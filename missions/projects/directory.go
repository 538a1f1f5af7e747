package projects

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// Directory is what a directory is: where it is really, and whose repository it
// is in.
type Directory struct {
	Dir            string // resolved, absolute
	Identity       home.DirectoryIdentity
	Repo           *usergit.Repository    // nil without Git
	CommonIdentity home.DirectoryIdentity // of the repository's common directory
	Top            string                 // the Git top level, else Dir
}

// InspectDirectory looks at a directory. The error is the user's: missing, not a
// directory, not readable.
func InspectDirectory(dir string) (Directory, error) {
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return Directory{}, missions.Errorf(missions.KindNotFound, "name a directory that is there", "%s: %w", dir, userfile.Reason(err))
	}
	place, err := DirectoryIdentity(resolved)
	if err != nil {
		return Directory{}, err
	}
	g := Directory{Dir: resolved, Identity: place, Top: resolved}
	repo, err := usergit.Discover(resolved)
	switch {
	case errors.Is(err, usergit.ErrNoRepository):
	case err != nil:
		return Directory{}, missions.Errorf(missions.KindFailed, "", "look for the Git repository of %s: %w", dir, err)
	case repo.Bare || repo.TopLevel == "":
	case repo.CommonDir == "":
		g.Repo, g.Top = repo, repo.TopLevel
	default:
		if g.CommonIdentity, err = DirectoryIdentity(repo.CommonDir); err != nil {
			return Directory{}, err
		}
		g.Repo, g.Top = repo, repo.TopLevel
	}
	return g, nil
}

// DirectoryIdentity identifies a directory.
func DirectoryIdentity(dir string) (home.DirectoryIdentity, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return home.DirectoryIdentity{}, missions.Errorf(missions.KindNotFound, "", "%s: %w", dir, userfile.Reason(err))
	}
	if !info.IsDir() {
		return home.DirectoryIdentity{}, missions.Errorf(missions.KindUsage, "name a directory", "%s is not a directory", dir)
	}
	return home.DirectoryIdentity{FileIdentity: home.IdentityOf(info), Born: beneath.Born(dir)}, nil
}

// AbsolutePath is path as seen from dir.
func AbsolutePath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func ResolveLinks(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// UnreadRepositoryError is the error of what needs the repository, nil if it can be
// read.
func UnreadRepositoryError(repo *usergit.Repository) error {
	if repo.Unread == nil {
		return nil
	}
	dir := repo.TopLevel
	if dir == "" {
		dir = repo.GitDir
	}
	return missions.Errorf(missions.KindFailed, GitStatusHint(dir), "the Git repository of %s can't be read: %w", dir, repo.Unread)
}

// RepairCommand is what to type to have a worktree and its repository find each other again.
func RepairCommand(commonDir, worktree string) string {
	return "git -C " + home.ShellQuote(commonDir) + " worktree repair " + home.ShellQuote(worktree)
}

// GitStatusHint is what to type to hear from Git itself what is wrong with a repository.
func GitStatusHint(dir string) string {
	return "git -C " + home.ShellQuote(dir) + " status says what is wrong; mend that"
}
