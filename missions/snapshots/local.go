package snapshots

// SaveWorkspaces writes what is cached of workspaces.
func (tk *Taker) SaveWorkspaces() {
	tk.mu.Lock()
	defer tk.mu.Unlock()
	for _, ws := range tk.workspaceCaches {
		ws.saveStatCache()
	}
}
