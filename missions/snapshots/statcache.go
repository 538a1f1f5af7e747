package snapshots

import (
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// SaveWorkspaces writes what is cached of workspaces.
func (tk *Taker) SaveWorkspaces() {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	for _, ws := range tk.workspaceCaches {
		ws.saveStatCache()
	}
}

// SaveStatCaches is for the process that watches, when nothing is asked of it: it writes
// the stat caches that are newer than what is on disk, of workspaces that nobody
// uses now. It reports whether it wrote any.
func (tk *Taker) SaveStatCaches() bool {
	wrote := false
	for _, ws := range tk.CachedWorkspaces() {
		order := tk.WorkspaceMutex(ws.Identity)
		if !order.TryLock() {
			continue
		}
		wrote = wrote || ws.cacheUnsaved
		ws.saveStatCache()
		order.Unlock()
	}
	return wrote
}

// saveStatCache writes the stat cache, so that the next process need not read every file
// again. It is a cache: a failure is only told in the log.
func (ws *WorkspaceCache) saveStatCache() {
	if !ws.cacheUnsaved {
		return
	}
	if err := ws.Taker.SaveStatCache(ws.Scanner, ws.Identity, ws.generation); err != nil {
		ws.Taker.Logger.Warn("save the stat cache", "workspace", ws.Root, "error", err)
		return
	}
	ws.cacheUnsaved = false
}

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
