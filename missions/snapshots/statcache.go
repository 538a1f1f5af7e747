package snapshots

import (
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// SaveWorkspaces writes the stat caches of all workspaces.
func (wk *Workspaces) SaveWorkspaces() {
	wk.mu.Lock()
	defer wk.mu.Unlock()
	for _, ws := range wk.caches {
		ws.saveStatCache()
	}
}

// SaveStatCaches writes the stat caches that are newer than the files on disk, of
// workspaces that nobody uses now. The process that watches calls it when nothing is
// asked of it. It reports whether it wrote any.
func (wk *Workspaces) SaveStatCaches() bool {
	wrote := false
	for _, ws := range wk.CachedWorkspaces() {
		order := wk.WorkspaceMutex(ws.Identity)
		if !order.TryLock() {
			continue
		}
		wrote = wrote || ws.cacheUnsaved
		ws.saveStatCache()
		order.Unlock()
	}
	return wrote
}

// saveStatCache writes the stat cache, so that the next process need not read every
// file again. A failure is only logged, since it is a cache.
func (ws *WorkspaceCache) saveStatCache() {
	if !ws.cacheUnsaved {
		return
	}
	if err := ws.workspaces.SaveStatCache(ws.Scanner, ws.Identity, ws.generation); err != nil {
		ws.workspaces.Logger.Warn("save the stat cache", "workspace", ws.Root, "error", err)
		return
	}
	ws.cacheUnsaved = false
}

// KnownFiles is what the newest capture of a mission's workspace knows, be it of this
// process or of one that left its stat cache.
func (wk *Workspaces) KnownFiles(m *projects.Mission) capture.Known {
	wk.mu.Lock()
	ws := wk.caches[m.Binding.Identity.FileIdentity]
	wk.mu.Unlock()
	if ws != nil {
		if known := ws.knownFiles.Load(); known != nil {
			return *known
		}
	}
	scanner, err := capture.OpenScanner(capture.Workspace{
		Root: m.Binding.Workspace, Identity: beneath.Identity(m.Binding.Identity.FileIdentity),
	}, wk.Home.StatCacheFile(m.Binding.Identity.FileIdentity), m.Project.Generation())
	if err != nil {
		return capture.Known{}
	}
	return scanner.Known()
}
