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
// of itself or of a directory above it. It is "" where the workspace is in its place, or
// not found.
func (m *Mission) Whereabouts(dir string) string {
	if m.Binding.Workspace == "" || m.CheckMachine() != nil {
		return ""
	}
	if dir != "" {
		if moved := m.MovedTo(dir); moved != "" {
			return moved
		}
	}
	if place, err := DirectoryIdentity(m.Binding.Workspace); err == nil && m.Binding.Identity.Is(place) {
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
	dir := filepath.Dir(lost)
	list, err := os.Open(dir)
	if err != nil {
		return ""
	}
	defer list.Close()
	beside, _ := list.ReadDir(mostBeside)
	mounts := beneath.MountsIn(dir)
	for _, e := range beside {
		at := filepath.Join(dir, e.Name())
		if !e.IsDir() || slices.Contains(mounts, at) {
			continue
		}
		if now, err := DirectoryIdentity(at + below); err == nil && m.Binding.Identity.Is(now) {
			return at + below
		}
	}
	return ""
}

// MovedError is the error of a mission whose workspace was found in another place.
func (m *Mission) MovedError(to string) error {
	return missions.Errorf(missions.KindFailed, m.MoveCommand(to),
		"the workspace of mission %s, %s, is in %s now", m.Name, m.Binding.Workspace, to)
}
