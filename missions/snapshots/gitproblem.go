package snapshots

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// GitProblem says what Git can't read of a mission's workspace now, nil if it can read
// all. Snapshots are taken all the same. With the error of ctx it is not known whether
// there is a problem.
func (wk *Workspaces) GitProblem(ctx context.Context, m *projects.Mission) (*missions.Problem, error) {
	if m.Binding.Workspace == "" {
		return nil, nil
	}
	dir := m.Binding.Workspace
	repo, unread := usergit.Discover(dir)
	switch {
	case errors.Is(unread, usergit.ErrNoRepository):
		unread = nil
	case unread != nil && m.IsWorkspaceGone():
		return nil, nil // another problem
	case unread == nil && repo.TopLevel == "":
		repo = nil
	case unread == nil:
		dir, unread = repo.TopLevel, unreadGitReason(repo)
	}
	if problem := lostWorktreeProblem(m, repo); unread == nil && problem != nil {
		return problem, nil
	}
	if unread == nil {
		config, err := usergit.ReadConfiguration(ctx, m.Binding.Workspace, repo, gitEnv(m), wk.GitPatience)
		if err != nil {
			return nil, err
		}
		unread = config.Unread
	}
	if unread == nil {
		return nil, nil
	}
	return &missions.Problem{
		Project: m.Project.Name, Mission: m.Name, Fix: unreadGitFix(m, repo, dir),
		Message: fmt.Sprintf("what Git knows of %s can't be read, and snapshots are taken by what it was when that could last be read: %v", dir, unread),
	}, nil
}

// LostWorktreeProblem says that the workspace was a worktree of its repository and has
// lost its .git: git in it works on the worktree that it lies in.
func LostWorktreeProblem(m *projects.Mission) *missions.Problem {
	if m.Binding.CommonDir == "" {
		return nil
	}
	repo, err := usergit.Discover(m.Binding.Workspace)
	if err != nil {
		return nil
	}
	return lostWorktreeProblem(m, repo)
}

func lostWorktreeProblem(m *projects.Mission, repo *usergit.Repository) *missions.Problem {
	workspace := m.Binding.Workspace
	if repo == nil || repo.TopLevel == "" || repo.CommonDir != m.Binding.CommonDir || filepath.Join(repo.TopLevel, m.Binding.PathInRepo) == workspace {
		return nil
	}
	return &missions.Problem{
		Project: m.Project.Name, Mission: m.Name,
		Message: fmt.Sprintf("%s is no worktree any more: its .git is gone, and git commands in it work on %s", workspace, repo.TopLevel),
		Fix:     fmt.Sprintf("git -C %s worktree repair, or move it away and: umbra mission resume %s --recreate", home.ShellQuote(repo.TopLevel), m.Name),
	}
}

// unreadGitFix is what to type where Git can't be read in a directory. The .git file of a
// worktree whose repository was moved names a place where nothing is.
func unreadGitFix(m *projects.Mission, repo *usergit.Repository, dir string) string {
	common := m.Project.Locations.CommonDir
	if repo == nil || !repo.LeadsNowhere() || common == "" {
		return projects.GitStatusHint(dir)
	}
	if _, err := os.Stat(common); err != nil {
		return "umbra project move " + home.ShellQuote(m.Project.Locations.Path) + " NEW if its repository was moved, else " + projects.GitStatusHint(dir)
	}
	return projects.RepairCommand(common, dir)
}

// unreadGitReason is why HEAD or the index can't be read. It is nil if they can be, or
// have a format that is not known.
func unreadGitReason(repo *usergit.Repository) error {
	unsupported := (*usergit.UnsupportedError)(nil)
	if _, err := repo.Head(); err != nil && !errors.As(err, &unsupported) {
		return err
	}
	if _, err := repo.Index(); err != nil && !errors.As(err, &unsupported) {
		return err
	}
	return repo.Unread
}

// RecordedGitProblem is GitProblem, asked only if the mission's newest snapshot could
// not read all of the repository. So it costs nothing where all is well.
func (wk *Workspaces) RecordedGitProblem(ctx context.Context, m *projects.Mission) (*missions.Problem, error) {
	if g, _, err := ReadGitRecord(m.Project, m.Tip); err != nil || g.UnreadReason == "" {
		return nil, nil
	}
	return wk.GitProblem(ctx, m)
}

// HasFix reports whether a problem with the same fix is in the list: one is enough for
// one repository.
func HasFix(said []missions.Problem, fix string) bool {
	return slices.ContainsFunc(said, func(p missions.Problem) bool { return p.Fix == fix })
}

// gitEnv is the environment in which git is asked for the user's configuration.
func gitEnv(m *projects.Mission) []string {
	env := []string{"HOME=" + m.Binding.AgentVars["HOME"], "PATH=" + os.Getenv("PATH")}
	if xdg := m.Binding.AgentVars["XDG_CONFIG_HOME"]; xdg != "" {
		env = append(env, "XDG_CONFIG_HOME="+xdg)
	}
	return env
}
