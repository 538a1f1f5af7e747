package snapshots

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// UnkeptReason is why no snapshot of a mission holds what is written in a directory.
func UnkeptReason(m *projects.Mission, dir string) projects.UnkeptReason {
	workspace := m.Binding.Workspace
	if !home.IsWithin(workspace, dir) {
		if dir = projects.ResolveLinks(dir); !home.IsWithin(workspace, dir) {
			return projects.UnkeptOutside
		}
	}
	path := strings.TrimPrefix(strings.TrimPrefix(dir, workspace), "/")
	switch {
	case path == "":
		return ""
	case IsInOwnWorktree(m, dir):
		return projects.UnkeptWorktree
	}
	rules, err := RecordedRules(m.Project, m.Tip)
	if err != nil {
		return "" // doctor says what is wrong with it
	}
	if kept, _, err := rules.Eligible(path, documents.Candidate{Mode: gitstore.ModeDir}); err != nil || kept {
		return ""
	}
	return projects.UnkeptIgnored
}

// IgnoredWorkspaceProblem says that a mission's workspace lies in a directory that the
// repository around it ignores, so that its snapshots hold hardly anything; nil if it
// does not, or is closed. It reads the newest snapshot's record.
func IgnoredWorkspaceProblem(m *projects.Mission) *missions.Problem {
	top, below := strings.CutSuffix(m.Binding.Workspace, "/"+m.Binding.PathInRepo)
	if !below || m.Binding.PathInRepo == "" || missions.StateOf(m.Lifecycle) == missions.StateClosed {
		return nil
	}
	rules, err := RecordedRules(m.Project, m.Tip)
	if err != nil || !rules.IgnoresWorkspace() { // of an error, doctor says what is wrong
		return nil
	}
	return &missions.Problem{
		Project: m.Project.Name, Mission: m.Name, Message: fmt.Sprintf("%s ignores the mission's workspace: what is in it is not kept", top),
		Fix: fmt.Sprintf("a line %s in %s has it kept from now on", ignore.TakenIn(m.Binding.PathInRepo), filepath.Join(top, ".umbraignore")),
	}
}

// UnreadIgnoreProblem names ignore files at the top of a mission's workspace that are too
// large for Git, so that Umbra does not read them either; nil if there are none, or if the
// mission is closed.
func UnreadIgnoreProblem(m *projects.Mission) *missions.Problem {
	if missions.StateOf(m.Lifecycle) == missions.StateClosed {
		return nil
	}
	files := []string{filepath.Join(m.Binding.Workspace, ".gitignore"), filepath.Join(m.Binding.Workspace, ".umbraignore")}
	if m.Binding.CommonDir != "" {
		files = append(files, filepath.Join(m.Binding.CommonDir, "info", "exclude"))
	}
	var large []string
	for _, file := range files {
		if st, err := os.Lstat(file); err == nil && st.Mode().IsRegular() && st.Size() > capture.MaxIgnoreFile {
			large = append(large, file)
		}
	}
	if len(large) == 0 {
		return nil
	}
	return &missions.Problem{
		Project: m.Project.Name, Mission: m.Name, Fix: "make it smaller", Details: large,
		Message: fmt.Sprintf("ignore files of more than 100 MiB are not read, as by Git, and what they leave out is captured: %s", strings.Join(large, ", ")),
	}
}

// IsInOwnWorktree reports whether a directory is in the workspace, and there in another
// worktree of the workspace's own repository.
func IsInOwnWorktree(m *projects.Mission, dir string) bool {
	if dir == m.Binding.Workspace {
		return false
	}
	path, within := strings.CutPrefix(projects.ResolveLinks(dir), m.Binding.Workspace+"/")
	if !within {
		return false
	}
	for end, r := range path + "/" {
		if r != '/' {
			continue
		}
		dir := filepath.Join(m.Binding.Workspace, path[:end])
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
			continue
		}
		if repo, err := usergit.At(dir); err == nil && repo.Linked && repo.CommonDir == m.Binding.CommonDir {
			return true
		}
	}
	return false
}
