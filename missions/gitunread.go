package missions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// unreadRepository is the error of what needs the repository, nil if it can be
// read.
func unreadRepository(repo *usergit.Repository) error {
	if repo.Unread == nil {
		return nil
	}
	dir := repo.TopLevel
	if dir == "" {
		dir = repo.GitDir
	}
	return Errorf(KindFailed, gitSays(dir), "the Git repository of %s can't be read: %w", dir, repo.Unread)
}

// gitSays is what to type to hear from Git itself what is wrong with a repository.
func gitSays(dir string) string {
	return "git -C " + shellQuote(dir) + " status says what is wrong; mend that"
}

// gitProblem is what of Git's can't be read for a mission's workspace at present,
// nil if nothing. Snapshots are taken all the same. The error is the context's: it
// is not known then whether there is a problem.
func (l *Local) gitProblem(ctx context.Context, m *loaded) (*Problem, error) {
	if m.bind.Workspace == "" {
		return nil, nil
	}
	dir := m.bind.Workspace
	repo, unread := usergit.Discover(dir)
	switch {
	case errors.Is(unread, usergit.ErrNoRepository):
		unread = nil
	case unread != nil && m.workspaceGone():
		return nil, nil // another problem
	case unread == nil && repo.TopLevel == "":
		repo = nil
	case unread == nil:
		dir, unread = repo.TopLevel, unreadPart(repo)
	}
	if unread == nil {
		config, err := usergit.ReadConfiguration(ctx, m.bind.Workspace, repo, m.gitEnv(), l.gitPatience)
		if err != nil {
			return nil, err
		}
		unread = config.Unread
	}
	if unread == nil {
		return nil, nil
	}
	return &Problem{
		Project: m.project.Name, Mission: m.Name, Fix: gitSays(dir),
		Message: fmt.Sprintf("what Git knows of %s can't be read, and snapshots are taken by what it was when that could last be read: %v", dir, unread),
	}, nil
}

// unreadPart is why HEAD or the index can't be read, nil if they can be, or are of
// a format that is not known.
func unreadPart(repo *usergit.Repository) error {
	unsupported := (*usergit.UnsupportedError)(nil)
	if _, err := repo.Head(); err != nil && !errors.As(err, &unsupported) {
		return err
	}
	if _, err := repo.Index(); err != nil && !errors.As(err, &unsupported) {
		return err
	}
	return repo.Unread
}

// gitProblemThen is gitProblem where the mission's newest snapshot could not read
// all of it, so that it costs nothing where all is well.
func (l *Local) gitProblemThen(ctx context.Context, m *loaded) (*Problem, error) {
	if g, _, err := m.project.gitOf(m.tip); err != nil || g.Unread == "" {
		return nil, nil
	}
	return l.gitProblem(ctx, m)
}

// fixed reports whether a problem with the same cure was said: of one repository,
// once is enough.
func fixed(said []Problem, fix string) bool {
	return slices.ContainsFunc(said, func(p Problem) bool { return p.Fix == fix })
}

// gitEnv is the environment in which git is asked for the user's configuration.
func (m *loaded) gitEnv() []string {
	env := []string{"HOME=" + m.bind.Vars["HOME"], "PATH=" + os.Getenv("PATH")}
	if xdg := m.bind.Vars["XDG_CONFIG_HOME"]; xdg != "" {
		env = append(env, "XDG_CONFIG_HOME="+xdg)
	}
	return env
}
