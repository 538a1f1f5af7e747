package claude

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
)

// Live looks the session up in Claude Code's registry of running processes
// (2.1: sessions/<pid>.json). An entry outlives a kill, so its process must be
// alive and, where that can be told, the very one that wrote it.
func (a Adapter) Live(env sessions.Environ, id string) (pid int, ok bool) {
	dir := filepath.Join(a.Root(env), "sessions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, false
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		var entry struct {
			PID       int    `json:"pid"`
			SessionID string `json:"sessionId"`
			ProcStart string `json:"procStart"`
		}
		if json.Unmarshal(b, &entry) != nil || entry.SessionID != id || entry.PID <= 0 {
			continue
		}
		if alive(entry.PID) && (entry.ProcStart == "" || startedAt(entry.PID, entry.ProcStart)) {
			return entry.PID, true
		}
	}
	return 0, false
}

// Switch implements sessions.Switcher.
func (Adapter) Switch(id string) string {
	if id == "" {
		return "/clear"
	}
	return "/resume " + id
}
