package snapshots

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
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
	case isInOwnWorktree(m, path):
		return projects.UnkeptWorktree
	}
	rules, err := RecordedRules(m.Project, m.Tip)
	if err != nil {
		return "" // doctor says what is wrong with it
	}
	if kept, _, err := rules.Eligible(path, capture.Candidate{Mode: gitstore.ModeDir}); err != nil || kept {
		return ""
	}
	return projects.UnkeptIgnored
}

// isInOwnWorktree reports whether a path of the workspace is in a worktree of the
// workspace's own repository.
func isInOwnWorktree(m *projects.Mission, path string) bool {
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
