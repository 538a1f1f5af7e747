package snapshots

import (
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// KnownFiles is what the newest capture of a mission's workspace knows: this
// process's, or one that left its stat cache.
func (tk *Taker) KnownFiles(m *projects.Mission) capture.Known {
	tk.mu.Lock()
	ws := tk.workspaceCaches[m.Binding.Identity]
	tk.mu.Unlock()
	if ws != nil {
		if known := ws.knownFiles.Load(); known != nil {
			return *known
		}
	}
	scanner, err := capture.OpenScanner(capture.Workspace{
		Root: m.Binding.Workspace, Identity: beneath.Identity(m.Binding.Identity),
	}, tk.Home.StatCacheFile(m.Binding.Identity), m.Project.Generation())
	if err != nil {
		return capture.Known{}
	}
	return scanner.Known()
}
