package missions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// outward is the command of a mission as a fork of it runs it, in a directory
// elsewhere: what it names outside of the workspace by a relative path, it names by an
// absolute one. What is in the workspace the fork has itself.
func (m *loaded) outward(command []string) []string {
	if m.bind.Workspace == "" {
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
		if file := filepath.Join(m.cwd(), path); m.leadsOut(path, file) {
			command[i] = option + file
		}
	}
	return command
}

// leadsOut reports whether a word is a relative path of something that is there,
// outside of the workspace: file, as the mission's agent finds it.
func (m *loaded) leadsOut(word, file string) bool {
	if filepath.IsAbs(word) || !slices.Contains(strings.Split(word, "/"), "..") || within(m.bind.Workspace, file) {
		return false
	}
	_, err := os.Lstat(file)
	return err == nil
}
