package projects

import (
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

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

// GitStatusHint is what to type to hear from Git itself what is wrong with a repository.
func GitStatusHint(dir string) string {
	return "git -C " + home.ShellQuote(dir) + " status says what is wrong; mend that"
}
