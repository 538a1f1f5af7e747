package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	_, entry := readRegistered(a, env, id, 0)
	return entry.PID, entry.PID > 0
}

// questions are what it waits for with a question on the screen that a tool or the
// turn waits for: not "dialog open", which is said of those too that its user has
// opened. One of the turn's own has a notice (asksWithin).
var questions = []string{"permission prompt", "sandbox request", "worker request", "goal proposal", "input needed"}

// Attends is what the session's entry in the registry says: that the process is idle,
// also after Esc before any answer, when nothing else does; and that it asks, some six
// seconds before a hook does. It is busy from the prompt to the end of its hooks for the
// end of the turn, of whichever tool they are, and while it sums up its conversation or
// a subagent works in the background; a shell there makes it "shell".
func (a Adapter) Attends(env sessions.Environ, id string, pid int) sessions.Attention {
	file, entry := readRegistered(a, env, id, pid)
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

// readRegistered is the entry of the process that has the session open, and its file: of
// the one with that pid, if it has, else of any.
func readRegistered(a Adapter, env sessions.Environ, id string, pid int) (string, registered) {
	dir := filepath.Join(a.Root(env), "sessions")
	if pid > 0 {
		file := filepath.Join(dir, strconv.Itoa(pid)+".json")
		if entry, ok := registeredIn(file, id); ok {
			return file, entry
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", registered{}
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		file := filepath.Join(dir, e.Name())
		if entry, ok := registeredIn(file, id); ok {
			return file, entry
		}
	}
	return "", registered{}
}

// registeredIn reads an entry that says a session is open. It outlives a kill, so its
// process must be alive and, where that can be told, the very one that wrote it.
func registeredIn(file, id string) (registered, bool) {
	var entry registered
	b, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(b, &entry) != nil || entry.SessionID != id || entry.PID <= 0 {
		return registered{}, false
	}
	return entry, alive(entry.PID) && (entry.ProcStart == "" || startedAt(entry.PID, entry.ProcStart))
}

// Switch implements sessions.Switcher.
func (Adapter) Switch(id string) string {
	if id == "" {
		return "/clear"
	}
	return "/resume " + id
}
