package codex

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

// shape names the events that Umbra asks for. The timeout is in seconds: a hook
// lets go of the agent after ten.
func shape() hooks.Shape {
	return hooks.Shape{
		Agent:   "codex",
		Events:  []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "Interrupt", "SessionEnd"},
		Matched: []string{"PreToolUse", "PermissionRequest", "PostToolUse"},
		Timeout: 15,
		Less:    map[string]int{"Interrupt": 3, "SessionEnd": 3}, // with more, Codex warns at each start
	}
}

// HookFile is hooks.json, which belongs to hooks alone. A project has one, and
// no other that is not shared.
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

// HooksOff is false: hooks.json can't switch them off, config.toml does.
func (Adapter) HooksOff([]byte) bool { return false }

var _ sessions.Truster = Adapter{}

// Distrusted implements sessions.Truster: what Codex has been told to trust is
// in config.toml, by file, event and place, with a hash of the hook. The hash is
// Codex's own affair: a hook that was changed since is not told from one that
// stands as it was.
func (a Adapter) Distrusted(env sessions.Environ, file string, read func(string) ([]byte, error)) string {
	c := a.config(env, read)
	if c.hooksOff {
		return "hooks are switched off in " + a.configFile(env) + " ([features] hooks = false): none of them runs"
	}
	settings, err := read(file)
	if err != nil {
		return ""
	}
	for _, place := range shape().Places(settings) {
		if !c.trusted[file+":"+snake(place.Event)+":"+strconv.Itoa(place.Group)+":"+strconv.Itoa(place.Hook)] {
			return "Codex runs no hook before its user has trusted it: start codex, which asks about new ones (or type /hooks there), look at them and trust them, again whenever they have changed; until then Umbra sees only files, and ends of turns where it has started codex itself"
		}
	}
	return ""
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

func (a Adapter) configFile(env sessions.Environ) string {
	return filepath.Join(a.Root(env), "config.toml")
}

// config is what of Codex's configuration matters to hooks.
type config struct {
	hooksOff bool
	notify   bool            // its user has a program for ends of turns
	trusted  map[string]bool // by the hook's place
}

// config reads config.toml as far as Codex itself writes it: a key or table a
// line. What can't be read counts as not there.
func (a Adapter) config(env sessions.Environ, read func(string) ([]byte, error)) config {
	c := config{trusted: map[string]bool{}}
	if read == nil {
		return c
	}
	text, err := read(a.configFile(env))
	if err != nil {
		return c
	}
	table := ""
	for row := range bytes.Lines(text) {
		row := strings.TrimSpace(string(row))
		if strings.HasPrefix(row, "[") {
			table = strings.Trim(row, "[] \t")
			continue
		}
		key, value, _ := strings.Cut(row, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case table == "" && key == "notify":
			c.notify = true
		case table == "features" && (key == "hooks" || key == "codex_hooks"), table == "" && key == "features.hooks":
			c.hooksOff = strings.HasPrefix(value, "false")
		case key == "trusted_hash":
			if place, ok := strings.CutPrefix(table, "hooks.state."); ok {
				c.trusted[unquoted(place)] = true
			}
		}
	}
	return c
}

// unquoted is the text of a TOML key: basic strings have Go's escapes.
func unquoted(key string) string {
	if s, err := strconv.Unquote(key); err == nil && strings.HasPrefix(key, `"`) {
		return s
	}
	return strings.Trim(key, "'")
}
