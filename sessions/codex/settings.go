package codex

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// shape names the events that Umbra asks for. The timeout is in seconds, and
// longer than a hook of Umbra's holds the agent, which is ten.
func shape() hooks.Shape {
	return hooks.Shape{
		Agent:   "codex",
		Events:  []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "Interrupt", "SessionEnd"},
		Matched: map[string]string{"PreToolUse": "*", "PermissionRequest": "*", "PostToolUse": "*"},
		Timeout: 15,
		Others:  map[string]int{"Interrupt": 3, "SessionEnd": 3}, // with more, Codex warns at each start
	}
}

// HookFile is hooks.json, which holds nothing but hooks. A project has one. It has no place for
// hooks that are not shared.
func (a Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	if scope == sessions.ScopeUser {
		return filepath.Join(a.Root(env), "hooks.json")
	}
	return filepath.Join(projectDir, ".codex", "hooks.json")
}

// InstallHooks implements sessions.Adapter.
func (Adapter) InstallHooks(settings []byte, hookCommand string) ([]byte, error) {
	return shape().Install(settings, hookCommand)
}

// UninstallHooks implements sessions.Adapter.
func (Adapter) UninstallHooks(settings []byte) (out []byte, remove bool, err error) {
	return shape().Uninstall(settings)
}

// HookCommands implements sessions.Adapter.
func (Adapter) HookCommands(settings []byte) (commands, missing []string, err error) {
	return shape().Commands(settings)
}

var _ sessions.Truster = Adapter{}

// Distrusted implements sessions.Truster. Codex lists the hooks that it trusts in config.toml,
// by file, event and place, with a hash of the hook. Umbra does not check the hash, so a hook
// that was changed since counts as trusted.
func (a Adapter) Distrusted(env sessions.Environ, file string, read func(string) ([]byte, error)) string {
	c := a.config(env, read)
	if c.hooksOff {
		return hooksOff(a.configFile(env))
	}
	settings, err := read(file)
	if err != nil {
		return ""
	}
	if filepath.Dir(file) != a.Root(env) {
		if why := elsewhere(file, read); why != "" {
			return why
		}
	}
	return cmp.Or(c.disabled(file, settings), c.untrusted(file, settings))
}

// elsewhere says that Codex does not read a project's hooks where they are: those
// of a linked Git worktree it takes from the main worktree (and only where the
// linked one has a directory .codex at all).
func elsewhere(file string, read func(string) ([]byte, error)) string {
	link, err := read(filepath.Join(filepath.Dir(filepath.Dir(file)), ".git"))
	place, is := strings.CutPrefix(strings.TrimSpace(string(link)), "gitdir:")
	if err != nil || !is || filepath.Base(filepath.Dir(place)) != "worktrees" {
		return ""
	}
	return "Codex does not read hooks in a linked Git worktree, but those of the main worktree: install them there, or without --project"
}

// hooksOff says that a configuration file switches all hooks off.
func hooksOff(file string) string {
	return "hooks are switched off in " + file + " ([features] hooks = false): none of them runs"
}

// untrusted says that Umbra's hooks in a file are not trusted; "" if all are.
func (c config) untrusted(file string, settings []byte) string {
	for _, place := range shape().Places(settings) {
		if !c.trusted[stateKey(file, place)] {
			return "Codex runs no hook before its user has trusted it: start codex, which asks about new ones (or type /hooks there), look at them and trust them, again whenever they have changed; until then Umbra sees only files, and ends of turns where it has started codex itself"
		}
	}
	return ""
}

// stateKey is how Codex's configuration names a hook.
func stateKey(file string, p hooks.Place) string {
	return file + ":" + snake(p.Event) + ":" + strconv.Itoa(p.Group) + ":" + strconv.Itoa(p.Hook)
}

// disabled says which of Umbra's hooks in a file its user has switched off one by
// one; "" if none is. Codex keeps to that also where it trusts every hook.
func (c config) disabled(file string, settings []byte) string {
	var events []string
	for _, place := range shape().Places(settings) {
		if c.off[stateKey(file, place)] {
			events = append(events, place.Event)
		}
	}
	if len(events) == 0 {
		return ""
	}
	return "switched off in Codex: the hooks of " + strings.Join(events, ", ") + "; type /hooks in codex and switch them on"
}

// snake is an event's name as Codex's configuration spells it.
func snake(event string) string {
	var b strings.Builder
	for i, r := range event {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}
