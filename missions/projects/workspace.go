package projects

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/userfile"
)

// Cwd is where the mission's agent runs.
func (m *Mission) Cwd() string {
	if m.Binding.Workspace == "" || m.Subdir == "" {
		return m.Binding.Workspace
	}
	return strings.TrimSuffix(m.Binding.Workspace, "/") + "/" + m.Subdir
}

// RelativePath names a file of the workspace as its snapshots do; any other target of a
// tool stays as it is.
func (m *Mission) RelativePath(target string) string {
	return strings.TrimPrefix(target, m.Binding.Workspace+string(filepath.Separator))
}

// WorkspacePath turns a path as the caller typed it into one of the workspace: as seen
// from the caller's directory if that is in the workspace, else from its root.
func (m *Mission) WorkspacePath(c missions.Caller, typed string) (string, error) {
	root := m.Binding.Workspace
	if root == "" {
		root = m.Project.Locations.Path // it was on another machine
	}
	full := typed
	if !filepath.IsAbs(full) {
		base := root
		if dir := ResolveLinks(c.Cwd); home.IsWithin(base, dir) {
			base = dir
		}
		full = filepath.Join(base, full)
	}
	full = filepath.Clean(full)
	if !home.IsWithin(root, full) {
		if r := ResolveLinks(filepath.Dir(full)); home.IsWithin(root, r) {
			full = filepath.Join(r, filepath.Base(full))
		}
	}
	if !home.IsWithin(root, full) {
		return "", missions.Errorf(missions.KindUsage, "name a path below "+root, "%s is outside the workspace of %s", typed, m.Name)
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(full, root), "/")
	return filepath.ToSlash(rel), nil
}

// IsWorkspaceGone reports whether the workspace is not where the mission left it.
func (m *Mission) IsWorkspaceGone() bool {
	place, err := DirectoryIdentity(m.Binding.Workspace)
	return err != nil || !m.Binding.Identity.Is(place)
}

// IsWorkspaceReplaced reports whether another directory is where the workspace was, and holds
// something: nothing can be made there again.
func (m *Mission) IsWorkspaceReplaced() bool {
	entries, err := os.ReadDir(m.Binding.Workspace)
	return err == nil && len(entries) > 0 && m.IsWorkspaceGone()
}

// WorkspaceProblem says of a mission that its workspace is not where it was; nil if it is
// there, or another directory that the next snapshot takes for it. The directory is the
// caller's: the workspace may have been moved there.
func (m *Mission) WorkspaceProblem(from string) *missions.Problem {
	problem := missions.Problem{Project: m.Project.Name, Mission: m.Name}
	if moved := m.Whereabouts(from); moved != "" {
		problem.Message, problem.Fix = "its workspace "+m.Binding.Workspace+" is in "+moved+" now", moveHint(m, moved)
		return &problem
	}
	if !m.IsWorkspaceGone() || m.IsWorkspaceCopied() || m.IsMovedOut() && !m.IsWorkspaceReplaced() {
		return nil
	}
	again := m.recreateCommand()
	if m.IsWorkspaceReplaced() {
		again = m.takeOverHint()
	}
	problem.Message = "its workspace " + m.Binding.Workspace + " was moved, replaced, mounted over or removed"
	problem.Fix = "umbra project move " + home.ShellQuote(m.Binding.Workspace) + " NEW if it was moved, " + again + ", or umbra mission rm " + m.Name
	return &problem
}

// IsWorktreeMadeAnew reports whether a directory that is where the workspace was is in another
// linked worktree of the mission's repository: git has made that one, nobody copied it.
func (m *Mission) IsWorktreeMadeAnew(g Directory) bool {
	return g.Repo != nil && g.Repo.Linked && m.Project.Locations.CommonIdentity.Is(g.CommonIdentity)
}

// IsWorkspaceCopied reports whether the directory that is where the workspace was holds
// what that held, so that the mission goes on there.
func (m *Mission) IsWorkspaceCopied() bool {
	g, err := InspectDirectory(m.Binding.Workspace)
	if err != nil || m.IsWorktreeMadeAnew(g) {
		return false
	}
	like, err := m.Resembles(g)
	return err == nil && like
}

// MovedTo is the directory that was the mission's workspace, where that is dir or a
// directory above it; "" if it is none of them, still in its place, or set aside by Umbra.
func (m *Mission) MovedTo(dir string) string {
	place := ResolveLinks(m.Binding.Workspace)
	if now, err := DirectoryIdentity(place); err == nil && m.Binding.Identity.Is(now) {
		if place == m.Binding.Workspace || beneath.IsInScratch(place) {
			return ""
		}
		return place // and a link leads there
	}
	for at := ResolveLinks(dir); ; at = filepath.Dir(at) {
		if now, err := DirectoryIdentity(at); err == nil && m.Binding.Identity.Is(now) && !beneath.IsInScratch(at) {
			return at
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// MoveCommand is the command by which the mission goes on in a directory.
func (m *Mission) MoveCommand(to string) string {
	return "umbra project move " + home.ShellQuote(m.Binding.Workspace) + " " + home.ShellQuote(to)
}

// WorkspaceMovedError is the error of a workspace that is not where its mission left it. It
// is never taken for an empty one.
func WorkspaceMovedError(m *Mission, why string) error {
	if m.IsMovedOut() && !m.IsWorkspaceReplaced() {
		return missions.Errorf(missions.KindFailed, m.recreateCommand()+" makes it one", "%s has no workspace: it has worked in that of its parent", m.Name)
	}
	if moved := m.Whereabouts(""); moved != "" {
		return m.MovedError(moved)
	}
	again := m.recreateCommand() + " to make it again"
	if m.IsWorkspaceReplaced() {
		again = m.takeOverHint()
	}
	return missions.Errorf(missions.KindFailed, fmt.Sprintf("umbra project move %s NEW if it was moved, or %s", home.ShellQuote(m.Binding.Workspace), again),
		"workspace moved or not visible: %s (%s)", m.Binding.Workspace, why)
}

// WorkspaceOpenError is the error of a workspace that could not be opened: moved where it is
// not there, or not for us; anything else, such as too many open files, says
// nothing of where it is.
func (m *Mission) WorkspaceOpenError(err error) error {
	for _, is := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP, syscall.ESTALE} {
		if errors.Is(err, is) {
			return WorkspaceMovedError(m, userfile.Reason(err).Error())
		}
	}
	return missions.Errorf(missions.KindFailed, "try again", "open the workspace %s: %w", m.Binding.Workspace, userfile.Reason(err))
}

// recreateCommand is the command that makes a lost workspace again: one that Umbra did
// not make only where that is said.
func (m *Mission) recreateCommand() string {
	if m.Binding.MadeByUmbra {
		return "umbra mission resume " + m.Name
	}
	return "umbra mission resume " + m.Name + " --recreate"
}

// takeOverHint is how the mission goes on in the directory that is now where its workspace
// was, and holds something else: what is there has to be insisted on.
func (m *Mission) takeOverHint() string {
	dir := home.ShellQuote(m.Binding.Workspace)
	return "umbra project move --force " + dir + " " + dir + " to work in what is there now"
}
