package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// registered is an entry of Claude Code's registry of running processes (2.1:
// sessions/<pid>.json).
type registered struct {
	PID       int    `json:"pid"`
	SessionID string `json:"sessionId"`
	ProcStart string `json:"procStart"`
	Status    string `json:"status"` // busy, waiting (for an answer), idle
	StatusAt  int64  `json:"statusUpdatedAt"`
	For       string `json:"waitingFor"` // with waiting
}

// Live looks the session up in the registry.
func (a Adapter) Live(env sessions.Environ, id string) (pid int, ok bool) {
	_, entry := a.registered(env, id)
	return entry.PID, entry.PID > 0
}

// questions are what it waits for with a question on the screen that a tool or the
// turn waits for: not a dialog that its user has opened.
var questions = []string{"permission prompt", "sandbox request", "worker request", "goal proposal", "input needed"}

// Attends is what the session's entry in the registry says: that the process is idle,
// also after Esc before any answer, when nothing else does; and that it asks, some six
// seconds before a hook does.
func (a Adapter) Attends(env sessions.Environ, id string) sessions.Attention {
	file, entry := a.registered(env, id)
	now := sessions.Attention{File: file}
	switch {
	case entry.StatusAt <= 0:
	case entry.Status == "idle":
		now.Idle = time.UnixMilli(entry.StatusAt)
	case entry.Status == "waiting" && slices.Contains(questions, entry.For):
		now.Asked = time.UnixMilli(entry.StatusAt)
	case entry.Status == "busy":
		now.Busy = time.UnixMilli(entry.StatusAt)
	}
	return now
}

// registered is the entry of the process that has the session open, and its file. An
// entry outlives a kill, so its process must be alive and, where that can be told, the
// very one that wrote it.
func (a Adapter) registered(env sessions.Environ, id string) (string, registered) {
	dir := filepath.Join(a.Root(env), "sessions")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", registered{}
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		file := filepath.Join(dir, e.Name())
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var entry registered
		if json.Unmarshal(b, &entry) != nil || entry.SessionID != id || entry.PID <= 0 {
			continue
		}
		if alive(entry.PID) && (entry.ProcStart == "" || startedAt(entry.PID, entry.ProcStart)) {
			return file, entry
		}
	}
	return "", registered{}
}

// Switch implements sessions.Switcher.
func (Adapter) Switch(id string) string {
	if id == "" {
		return "/clear"
	}
	return "/resume " + id
}
