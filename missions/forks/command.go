package forks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// absoluteCommand is the command of a mission for a fork, which runs in another
// directory: relative paths that lead out of the workspace become absolute. The fork
// has its own copy of what is in the workspace.
func absoluteCommand(m *projects.Mission, command []string) []string {
	if m.Binding.Workspace == "" {
		return command
	}
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
		}
	}
	return command
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
