package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// Worktrees are what Claude Code tells of its worktrees.
type Worktrees struct{}

var _ sessions.WorktreeHooks = Worktrees{}

// Agent implements sessions.WorktreeHooks.
func (Worktrees) Agent() string { return Adapter{}.Name() }

// The events by which 2.1 has hooks make and remove worktrees. A failure of the first one
// is one of its user's command, so it is never silent; and what the second one does not say
// to have failed is believed to be gone.
const (
	worktreeCreate = "WorktreeCreate"
	worktreeRemove = "WorktreeRemove"
)

// worktreeTimeout is how many seconds the client waits for a worktree.
const worktreeTimeout = 300

// plainWorktree makes the worktree that the client would where there is no umbra to ask.
const plainWorktree = ` || { n=$(sed -n 's/.*"name" *: *"\([A-Za-z0-9._\/-]*\)".*/\1/p' | tr / +); d=$(git rev-parse --show-toplevel)/.claude/worktrees/$n; ` +
	`[ -n "$n" ] && { [ -e "$d/.git" ] || git worktree add -q -b "worktree-$n" "$d" >&2 || git worktree add -q "$d" "worktree-$n" >&2; } && echo "$d"; }`

// Asked implements sessions.WorktreeHooks.
func (Worktrees) Asked(payload []byte) (sessions.WorktreeAsked, bool) {
	f, err := hooks.Read(payload)
	if err != nil || f.Text(cursorsField) != "" {
		return sessions.WorktreeAsked{}, false
	}
	a := sessions.WorktreeAsked{Session: f.Text("session_id"), Cwd: f.Text("cwd")}
	switch f.Text("hook_event_name") {
	case worktreeCreate:
		a.Name = f.Text("name")
	case worktreeRemove:
		if a.Remove = f.Text("worktree_path"); !filepath.IsAbs(a.Remove) {
			return sessions.WorktreeAsked{}, false
		}
		return a, true
	}
	return a, isWorktreeName(a.Name) && filepath.IsAbs(a.Cwd)
}

// isWorktreeName reports whether a name is one that the client gives: it becomes a path.
func isWorktreeName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || strings.Trim(strings.ToLower(part), "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
			return false
		}
	}
	return true
}

// Install implements sessions.WorktreeHooks.
func (Worktrees) Install(settings []byte, hookCommand, program string) ([]byte, error) {
	if !knowsWorktreeHooks(installedVersion(program)) {
		return shape().Install(settings, hookCommand)
	}
	return shape().InstallAll(settings, hookCommand)
}

// firstWithWorktreeHooks is the oldest version of 2.1 that was tried with them.
const firstWithWorktreeHooks = 197

// knowsWorktreeHooks reports whether a version, such as 2.1.329, has these events.
func knowsWorktreeHooks(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) != 3 {
		return false
	}
	var n [3]int
	for i, part := range parts {
		var err error
		if n[i], err = strconv.Atoi(part); err != nil {
			return false
		}
	}
	return n[0] > 2 || n[0] == 2 && (n[1] > 1 || n[1] == 1 && n[2] >= firstWithWorktreeHooks)
}

// mostUp is how far above the program its package's description is looked for.
const mostUp = 3

// installedVersion is the version of a program of Claude Code: its own installer names the
// file after it, npm has it in the package's description. "" if neither tells.
func installedVersion(program string) string {
	file, err := filepath.EvalSymlinks(program)
	if err != nil || program == "" {
		return ""
	}
	for dir, n := file, 0; n <= mostUp; n++ {
		if name := filepath.Base(dir); strings.Count(name, ".") == 2 && strings.Trim(name, "0123456789.") == "" {
			return name
		}
		dir = filepath.Dir(dir)
		text, err := os.ReadFile(filepath.Join(dir, "package.json"))
		var about struct{ Name, Version string }
		if err == nil && json.Unmarshal(text, &about) == nil && strings.HasPrefix(about.Name, "@anthropic-ai/claude-code") {
			return about.Version
		}
	}
	return ""
}
