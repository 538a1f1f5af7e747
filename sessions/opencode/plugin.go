package opencode

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/umbra-vcs/umbra/sessions"
)

// plugin is Umbra's whole plugin, but for the command that it calls.
//
//go:embed plugin.js
var plugin []byte

const (
	pluginName = "umbra.js"
	hookMark   = `"@hook@"` // where the command goes, as a string of JavaScript
	firstWords = "// Umbra's plugin for OpenCode."
)

// HookFile is the plugin's file. OpenCode knows none that is a project's and
// unshared.
func (Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	if scope == sessions.ScopeUser {
		return filepath.Join(xdg(env, varConfig, ".config"), "opencode", "plugin", pluginName)
	}
	return filepath.Join(projectDir, ".opencode", "plugin", pluginName)
}

// pluginFor is the plugin that calls a command.
func pluginFor(command string) ([]byte, error) {
	word, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	return bytes.Replace(plugin, []byte(hookMark), word, 1), nil
}

// InstallHooks makes the plugin, which is a file of Umbra's alone.
func (Adapter) InstallHooks(settings []byte, hookCommand string) ([]byte, error) {
	if settings != nil && !isOurs(settings) {
		return nil, errors.New("there is a file of this name that Umbra did not write")
	}
	return pluginFor(hookCommand)
}

// UninstallHooks removes the plugin, and leaves another's file alone.
func (Adapter) UninstallHooks(settings []byte) (out []byte, remove bool, err error) {
	return settings, isOurs(settings), nil
}

func isOurs(settings []byte) bool { return bytes.HasPrefix(settings, []byte(firstWords)) }

// HookCommands returns the command that the plugin calls. One that another
// version of Umbra wrote lacks what this one's hears.
func (Adapter) HookCommands(settings []byte) (commands, missing []string, err error) {
	if !isOurs(settings) {
		return nil, nil, nil
	}
	before, _, _ := bytes.Cut(plugin, []byte(hookMark))
	variable := before[bytes.LastIndexByte(before, '\n')+1:]
	_, rest, ok := bytes.Cut(settings, variable)
	if !ok {
		return nil, []string{"all"}, nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	var command string
	if err := json.Unmarshal(line, &command); err != nil {
		return nil, []string{"all"}, nil
	}
	if now, err := pluginFor(command); err != nil || !bytes.Equal(now, settings) {
		missing = []string{"those of this version of Umbra"}
	}
	return []string{command}, missing, nil
}

// HooksOff is false: a plugin's own file switches nothing off.
func (Adapter) HooksOff([]byte) bool { return false }
