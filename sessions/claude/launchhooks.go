package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// settingsName is the file for a launch whose user's command names one.
const settingsName = "claude-settings.json"

// addHooks hands the hooks to this launch by --settings. That option holds one
// value, so the user's settings are merged into a copy and that alone is passed:
// as a file if theirs was one, since it may hold what no process list should
// show.
func (l *launch) addHooks() {
	if l.o.Hooks.Command == "" {
		if l.settings != nil {
			_ = l.passSettings(l.settings, true) // there is a place: configure has looked
		}
		return
	}
	value, own, err := l.userSettings()
	if l.settings != nil {
		value, own = l.settings, true
	}
	if err == nil {
		err = l.hooksRun(value)
	}
	var merged []byte
	if err == nil {
		merged, err = Worktrees{}.Install(value, l.o.Hooks.Command, l.worktreeProgram())
	}
	if err == nil {
		err = l.passSettings(l.markSettings(merged), own)
	}
	if err != nil {
		l.cmd.Why = err.Error()
		return
	}
	l.cmd.Hooked = true
}

// worktreeProgram is the program, which tells whether Umbra's hooks make its worktrees; ""
// where its user has hooks that do, in any settings.
func (l *launch) worktreeProgram() string {
	if l.o.ReadFile == nil || l.o.Dir == "" {
		return l.o.Hooks.Program
	}
	for _, scope := range []sessions.Scope{sessions.ScopeUser, sessions.ScopeShared, sessions.ScopeProject} {
		settings, err := l.o.ReadFile(l.a.HookFile(l.o.Env, scope, l.o.Dir))
		if err == nil && shape().HasOthers(settings, worktreeCreate) {
			return ""
		}
	}
	return l.o.Hooks.Program
}

// markSettings sets the launch's variables in its settings too. A background session is
// started by the one daemon that all sessions of 2.1 share, with the environment of
// whichever began that; its settings are those of the session that it comes from.
// Settings that have no place for them stay as they are.
func (l *launch) markSettings(settings []byte) []byte {
	if len(l.o.Marks) == 0 {
		return settings
	}
	env := jsontext.Lookup(bytes.TrimSpace(settings), keyEnv)
	if env == nil {
		env = []byte("{}")
	}
	var err error
	for name, value := range l.o.Marks {
		if env, err = jsontext.SetMember(env, name, jsontext.Quote(value)); err != nil {
			return settings
		}
	}
	marked, err := jsontext.SetMember(settings, keyEnv, env)
	if err != nil {
		return settings
	}
	return marked
}

// userSettings is what the user's command passes; file reports that it names one.
func (l *launch) userSettings() (settings []byte, file bool, err error) {
	n := 0
	for _, a := range l.args {
		if a.Name == "--settings" {
			n++
		}
	}
	value, ok := l.args.Value("--settings")
	switch {
	case n == 0:
		return nil, false, nil
	case n > 1 || !ok:
		return nil, false, fmt.Errorf("the command has --settings %d times, of which versions read different ones", n)
	case strings.HasPrefix(strings.TrimSpace(value), "{"):
		return []byte(value), false, nil
	}
	settings, err = l.read(value)
	if err != nil {
		return nil, true, fmt.Errorf("read --settings: %w", err)
	}
	return settings, true, nil
}

func (l *launch) read(name string) ([]byte, error) {
	if l.o.ReadFile == nil {
		return nil, fmt.Errorf("%s can't be read here", name)
	}
	if !filepath.IsAbs(name) && l.o.Dir != "" {
		name = filepath.Join(l.o.Dir, name)
	}
	return l.o.ReadFile(name)
}

const (
	keyHooksOff = "disableAllHooks"
	keyEnv      = "env"
)

// HooksOff reports whether settings switch all hooks off.
func (Adapter) HooksOff(settings []byte) bool {
	return string(jsontext.Lookup(bytes.TrimSpace(settings), keyHooksOff)) == "true"
}

// hooksRun says why no hook would run: an option, or disableAllHooks in the
// settings that count, of which the later read win.
func (l *launch) hooksRun(passed []byte) error {
	for _, name := range unhooked {
		if l.args.Has(name) {
			return fmt.Errorf("claude runs no hooks with %s", name)
		}
	}
	where := ""
	judge := func(name string, settings []byte) {
		switch string(jsontext.Lookup(bytes.TrimSpace(settings), keyHooksOff)) {
		case "true":
			where = name
		case "false":
			where = ""
		}
	}
	if l.o.ReadFile != nil && l.o.Dir != "" {
		for _, scope := range []sessions.Scope{sessions.ScopeUser, sessions.ScopeShared, sessions.ScopeProject} {
			name := l.a.HookFile(l.o.Env, scope, l.o.Dir)
			if b, err := l.o.ReadFile(name); err == nil {
				judge(name, b)
			}
		}
	}
	judge("--settings", passed)
	if where != "" {
		return fmt.Errorf("hooks are switched off by disableAllHooks in %s", where)
	}
	return nil
}

func (l *launch) passSettings(merged []byte, file bool) error {
	if file && l.o.SettingsDir == "" {
		return errors.New("no place for a copy of the settings the command names")
	}
	l.args = l.args.Without("--settings")
	if !file {
		var out bytes.Buffer
		if err := json.Compact(&out, merged); err != nil {
			return err
		}
		l.args = l.args.First("--settings", out.String())
		return nil
	}
	name := filepath.Join(l.o.SettingsDir, settingsName)
	l.cmd.Files = append(l.cmd.Files, sessions.File{Path: name, Mode: 0o600, Write: func(w io.Writer) error {
		_, err := w.Write(merged)
		return err
	}})
	l.args = l.args.First("--settings", name)
	return nil
}
