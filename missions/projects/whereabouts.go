package projects

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// mostBeside is up to how many directories beside a lost workspace are looked at.
const mostBeside = 4096

// Whereabouts is the directory that the mission's workspace was moved to, as far as that
// is seen from dir, the caller's: MovedTo, or else a new name in the directory where it was,
// of itself or of a directory above it. It is "" where the workspace is in its place, where
// a copy is in its place, in which the mission goes on, or where it is not found.
func (m *Mission) Whereabouts(dir string) string {
	if m.Binding.Workspace == "" || m.CheckMachine() != nil {
		return ""
	}
	if dir != "" {
		if moved := m.MovedTo(dir); moved != "" {
			return moved
		}
	}
	if place, err := DirectoryIdentity(m.Binding.Workspace); err == nil && (m.Binding.Identity.Is(place) || m.IsWorkspaceCopied()) {
		return ""
	}
	return renamedTo(m)
}

// renamedTo looks beside the lost workspace, or beside the highest directory above it that
// is lost with it. What is mounted there is not looked at: it may never answer.
func renamedTo(m *Mission) string {
	lost, below := m.Binding.Workspace, ""
	for above := filepath.Dir(lost); !home.IsThere(above); above = filepath.Dir(above) {
		lost, below = above, strings.TrimPrefix(m.Binding.Workspace, above)
	}
	dir := ResolveLinks(filepath.Dir(lost))
	list, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer list.Close()
	beside, _ := list.ReadDir(mostBeside)
	mounts := beneath.MountsIn(dir)
	for _, e := range beside {
		at := filepath.Join(dir, e.Name()) + below
		covers := func(mount string) bool { return mount != dir && home.IsWithin(mount, at) }
		if e.IsDir() && !beneath.IsInScratch(at) && !slices.ContainsFunc(mounts, covers) && isWorkspaceAt(m, at) {
			return at
		}
	}
	return ""
}

// isWorkspaceAt reports whether a directory is the mission's workspace. Where the file system
// tells no time of birth, another directory may have its number since: then its files decide.
func isWorkspaceAt(m *Mission, dir string) bool {
	now, err := DirectoryIdentity(dir)
	if err != nil || !m.Binding.Identity.Is(now) {
		return false
	}
	if m.Binding.Identity.Born != 0 && now.Born != 0 {
		return true
	}
	g, err := InspectDirectory(dir)
	if err != nil {
		return false
	}
	like, err := m.Resembles(g)
	return err == nil && like
}

// MovedError is the error of a mission whose workspace was found in another place.
func (m *Mission) MovedError(to string) error {
	return missions.Errorf(missions.KindFailed, moveHint(m, to),
		"the workspace of mission %s, %s, is in %s now", m.Name, m.Binding.Workspace, to)
}

// moveHint is how the mission goes on in a directory that was found, or in another one that
// has its place.
func moveHint(m *Mission, to string) string {
	if m.IsWorkspaceReplaced() {
		return m.MoveCommand(to) + ", or " + m.takeOverHint()
	}
	return m.MoveCommand(to)
}
