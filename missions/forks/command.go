package forks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// command is what the fork runs where its user names no command: what its source ran, but
// of a mission that was fetched only the agent's program. Words that somebody else has
// written are no command line here.
func (j *forkJob) command(workspace string) ([]string, error) {
	if len(j.request.Command) > 0 {
		return j.request.Command, nil
	}
	if j.request.InPlace {
		return j.moment.Command, nil
	}
	if j.moment.Remote != "" {
		return j.forker.agents.AgentCommand(j.moment.Agent)
	}
	return forkedCommand(j.moment.Mission, j.moment.Command, workspace, j.forker.Adapter(j.moment.Agent)), nil
}

// forkedCommand is the command of a mission for a fork, which runs in another directory:
// with the paths that it means there, and in no worktree that it shares with the source.
func forkedCommand(m *projects.Mission, command []string, workspace string, a sessions.Adapter) []string {
	if m.Binding.Workspace != "" { // it has none where the mission is of another machine
		command = forkedPaths(m, command, workspace)
	}
	if making, ok := a.(sessions.WorktreeMaking); ok {
		command = making.WithoutWorktree(command)
	}
	return command
}

// forkedPaths makes relative paths that lead out of the workspace absolute. What is in
// the workspace the fork has its own copy of: absolute paths into it lead to that.
func forkedPaths(m *projects.Mission, command []string, workspace string) []string {
	command = slices.Clone(command)
	for i, word := range command {
		option, path, joined := strings.Cut(word, "=")
		if !joined || !strings.HasPrefix(word, "-") {
			option, path = "", word
		} else {
			option += "="
		}
		if file := filepath.Join(m.Cwd(), path); leadsOutsideWorkspace(m, path, file) {
			command[i] = option + file
		} else if own, ok := ownPath(m, path, workspace); ok {
			command[i] = option + own
		}
	}
	return command
}

// ownPath is an absolute path into the workspace of a mission as the fork has it, if the
// fork has it.
func ownPath(m *projects.Mission, path, workspace string) (string, bool) {
	if !filepath.IsAbs(path) || !home.IsWithin(m.Binding.Workspace, filepath.Clean(path)) {
		return "", false
	}
	rel, err := filepath.Rel(m.Binding.Workspace, path)
	if err != nil {
		return "", false
	}
	own := filepath.Join(workspace, rel)
	_, err = os.Lstat(own)
	return own, err == nil
}

// leadsOutsideWorkspace reports whether a word is a relative path of a file that exists
// outside of the workspace; file is the path as the mission's agent finds it.
func leadsOutsideWorkspace(m *projects.Mission, word, file string) bool {
	if filepath.IsAbs(word) || !slices.Contains(strings.Split(word, "/"), "..") || home.IsWithin(m.Binding.Workspace, file) {
		return false
	}
	_, err := os.Lstat(file)
	return err == nil
}
