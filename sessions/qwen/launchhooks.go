package qwen

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
)

// settingsName is the file of a launch's settings.
const settingsName = "umbra-qwen-settings.json"

// addHooks hands the hooks to this launch, unless the very same ones are installed: the
// client is given a copy of the machine's settings with them. Of settings that are the
// user's, it reads none for one launch.
func (l *launch) addHooks() {
	if l.o.Hooks.Command == "" {
		return
	}
	if l.cmd.Why = l.whyNoHooks(); l.cmd.Why != "" {
		return
	}
	if l.installed() {
		l.cmd.Hooked = true
		return
	}
	system := l.systemSettings()
	settings, err := l.read(system)
	if errors.Is(err, fs.ErrNotExist) {
		settings, err = nil, nil
	}
	if err == nil {
		settings, err = shape().Install(settings, l.o.Hooks.Command)
	}
	switch {
	case err != nil:
		l.cmd.Why = fmt.Sprintf("%s: %v", system, err)
		return
	case l.o.SettingsDir == "":
		l.cmd.Why = "there is no place for the hooks"
		return
	}
	name := filepath.Join(l.o.SettingsDir, settingsName)
	l.cmd.Files = append(l.cmd.Files, sessions.File{Path: name, Mode: 0o600, Write: func(w io.Writer) error {
		_, err := w.Write(settings)
		return err
	}})
	l.cmd.Env = map[string]string{varSystem: name, varDefaults: l.systemDefaults(system)}
	l.cmd.Hooked = true
}

func (l *launch) read(name string) ([]byte, error) {
	if l.o.ReadFile == nil {
		return nil, fs.ErrNotExist
	}
	return l.o.ReadFile(name)
}

// systemSettings is the file of the machine's settings. One that another launch was given
// stands for those of the machine.
func (l *launch) systemSettings() string {
	if name := l.o.Env.Vars[varSystem]; name != "" && filepath.Base(name) != settingsName {
		return name
	}
	if runtime.GOOS == "darwin" {
		return "/Library/Application Support/QwenCode/settings.json"
	}
	return "/etc/qwen-code/settings.json"
}

// systemDefaults is the file beside them, which the client would look for beside the copy.
func (l *launch) systemDefaults(system string) string {
	if name := l.o.Env.Vars[varDefaults]; name != "" {
		return name
	}
	return filepath.Join(filepath.Dir(system), "system-defaults.json")
}

// installed reports whether the user's own Qwen Code runs these very hooks.
func (l *launch) installed() bool {
	settings, err := l.read(l.a.HookFile(l.o.Env, sessions.ScopeUser, l.o.Dir))
	if err != nil {
		return false
	}
	commands, missing, err := l.a.HookCommands(settings)
	return err == nil && len(missing) == 0 && !slices.ContainsFunc(commands, func(c string) bool { return c != l.o.Hooks.Command })
}

// whyNoHooks says why no hook would run: an option, or disableAllHooks in the settings that
// count, of which the later read win.
func (l *launch) whyNoHooks() string {
	for _, name := range unhooked {
		if l.args.Has(name) {
			return "qwen runs no hooks with " + name
		}
	}
	if recording, ok := l.args.Value("--chat-recording"); ok && recording == "false" || l.args.Has("--no-chat-recording") {
		return "qwen keeps no conversation without --chat-recording"
	}
	off := ""
	system := l.systemSettings()
	for _, name := range []string{
		l.systemDefaults(system), l.a.HookFile(l.o.Env, sessions.ScopeUser, l.o.Dir), l.a.HookFile(l.o.Env, sessions.ScopeShared, l.o.Dir), system,
	} {
		settings, err := l.read(name)
		if err != nil {
			continue
		}
		switch hooksOff(settings) {
		case "true":
			off = name
		case "false":
			off = ""
		}
	}
	if off != "" {
		return "hooks are switched off by disableAllHooks in " + off
	}
	return ""
}
