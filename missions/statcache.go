package missions

import (
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/journal"
)

// knownOf is what the newest capture of a mission's workspace knows: this
// process's, or one that left its stat cache.
func (l *Local) knownOf(m *loaded) capture.Known {
	l.mu.Lock()
	ws := l.workspaces[m.bind.Place]
	l.mu.Unlock()
	if ws != nil {
		if known := ws.known.Load(); known != nil {
			return *known
		}
	}
	scanner, err := capture.OpenScanner(capture.Workspace{
		Root: m.bind.Workspace, Identity: beneath.Identity(m.bind.Place),
	}, l.home.statCache(m.bind.Place), m.project.generation())
	if err != nil {
		return capture.Known{}
	}
	return scanner.Known()
}

// saveScanner writes what a scanner knows into the stat cache of a workspace.
func (l *Local) saveScanner(s *capture.Scanner, place Place, generation uint64) error {
	file := l.home.statCache(place)
	return s.Save(generation, func(data []byte) error { return journal.WriteVolatile(l.home.Dir, file, 0o600, data) })
}
