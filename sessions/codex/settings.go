package codex

import (
	"bytes"
	"cmp"
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
		return a.hooksOff(env)
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

func (a Adapter) hooksOff(env sessions.Environ) string {
	return "hooks are switched off in " + a.configFile(env) + " ([features] hooks = false): none of them runs"
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

func (a Adapter) configFile(env sessions.Environ) string {
	return filepath.Join(a.Root(env), "config.toml")
}

// config is what of Codex's configuration matters to hooks.
type config struct {
	hooksOff bool
	notify   bool            // its user has a program for ends of turns
	trusted  map[string]bool // by the hook's place
	off      map[string]bool
}

// config reads config.toml as far as Codex itself writes it: a key or table a
// line. What can't be read counts as not there.
func (a Adapter) config(env sessions.Environ, read func(string) ([]byte, error)) config {
	c := config{trusted: map[string]bool{}, off: map[string]bool{}}
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
		case table == "features", table == "" && strings.HasPrefix(key, "features"):
			if on, told := hooksFeature(strings.TrimPrefix(table+"."+key, "."), value); told {
				c.hooksOff = !on
			}
		}
		if place, ok := strings.CutPrefix(table, "hooks.state."); ok {
			c.trusted[unquoted(place)] = c.trusted[unquoted(place)] || key == "trusted_hash"
			c.off[unquoted(place)] = c.off[unquoted(place)] || key == "enabled" && strings.HasPrefix(value, "false")
		}
	}
	return c
}

// hooksFeature reports whether a key of the configuration, or an override of it on
// the command line, switches all hooks on or off.
func hooksFeature(key, value string) (on, told bool) {
	if key == "features" { // an inline table
		for member := range strings.SplitSeq(strings.Trim(value, "{} \t"), ",") {
			k, v, _ := strings.Cut(member, "=")
			if on, told := hooksFeature("features."+strings.TrimSpace(k), strings.TrimSpace(v)); told {
				return on, true
			}
		}
		return false, false
	}
	name, ok := strings.CutPrefix(key, "features.")
	return strings.HasPrefix(value, "true"), ok && isHooks(name)
}

// isHooks reports whether a feature is that of hooks, by its name or its earlier
// one.
func isHooks(feature string) bool { return feature == "hooks" || feature == "codex_hooks" }

// unquoted is the text of a TOML key: basic strings have Go's escapes.
func unquoted(key string) string {
	if s, err := strconv.Unquote(key); err == nil && strings.HasPrefix(key, `"`) {
		return s
	}
	return strings.Trim(key, "'")
}
