package projects

import (
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// WorkspacePath turns a path as the caller typed it into one of the workspace: as seen
// from the caller's directory if that is in the workspace, else from its root.
func (m *Mission) WorkspacePath(c missions.Caller, typed string) (string, error) {
	full := typed
	if !filepath.IsAbs(full) {
		base := m.Binding.Workspace
		if dir := ResolveLinks(c.Cwd); home.IsWithin(base, dir) {
			base = dir
		}
		full = filepath.Join(base, full)
	}
	full = filepath.Clean(full)
	if !home.IsWithin(m.Binding.Workspace, full) {
		if r := ResolveLinks(filepath.Dir(full)); home.IsWithin(m.Binding.Workspace, r) {
			full = filepath.Join(r, filepath.Base(full))
		}
	}
	if !home.IsWithin(m.Binding.Workspace, full) {
		return "", missions.Errorf(missions.KindUsage, "name a path below "+m.Binding.Workspace, "%s is outside the workspace of %s", typed, m.Name)
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(full, m.Binding.Workspace), "/")
	return filepath.ToSlash(rel), nil
}
