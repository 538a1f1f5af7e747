package opencode

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
)

// plugin is Umbra's whole plugin, but for the command that it calls and its last
// line.
//
//go:embed plugin.js
var plugin []byte

const (
	pluginName = "umbra.js"
	hookMark   = `"@hook@"` // where the command goes, as a string of JavaScript
	firstWords = "// Umbra's plugin for OpenCode."
	lastWords  = "// The end of Umbra's plugin "
)

// HookFile is the plugin's file. OpenCode knows none that is a project's and
// unshared.
func (a Adapter) HookFile(env sessions.Environ, scope sessions.Scope, projectDir string) string {
	if scope == sessions.ScopeUser {
		return filepath.Join(a.ConfigRoot(env), "plugin", pluginName)
	}
	return filepath.Join(projectDir, ".opencode", "plugin", pluginName)
}

// pluginFor is the plugin that calls a command, sealed.
func pluginFor(command string) ([]byte, error) {
	word, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	text := bytes.Replace(plugin, []byte(hookMark), word, 1)
	return append(text, lastLine(text)...), nil
}

// lastLine is the last line of a plugin: by it every version of Umbra knows which
// text one has written, and that nobody has changed it.
func lastLine(text []byte) string {
	sum := sha256.Sum256(text)
	return lastWords + hex.EncodeToString(sum[:8]) + "\n"
}

var errChanged = errors.New("the plugin was changed there since Umbra wrote it: take its lines out by hand, and install it again")

// place is a file that holds the plugin, and perhaps lines of its user's about it.
type place struct{ before, ours, after []byte }

// findPlugin finds the plugin in a file. sessions.ErrForeignFile where there is none,
// errChanged where it is not as Umbra wrote it.
func findPlugin(file []byte) (place, error) {
	start, ok := lineStart(file, firstWords)
	if !ok {
		return place{}, sessions.ErrForeignFile
	}
	last, ok := lineStart(file[start:], lastWords)
	if !ok {
		return place{}, errChanged
	}
	last += start
	if !bytes.HasPrefix(file[last:], []byte(lastLine(file[start:last]))) {
		return place{}, errChanged
	}
	end := last + len(lastLine(nil))
	return place{before: file[:start], ours: file[start:end], after: file[end:]}, nil
}

// lineStart finds the first line that begins with words.
func lineStart(b []byte, words string) (at int, ok bool) {
	if bytes.HasPrefix(b, []byte(words)) {
		return 0, true
	}
	at = bytes.Index(b, []byte("\n"+words)) + 1
	return at, at > 0
}

// with is the file with another text in the plugin's place.
func (p place) with(text []byte) []byte { return slices.Concat(p.before, text, p.after) }

// InstallHooks makes the plugin. What its user has added about it stays.
func (Adapter) InstallHooks(settings []byte, hookCommand string) ([]byte, error) {
	now, err := pluginFor(hookCommand)
	if err != nil || settings == nil {
		return now, err
	}
	p, err := findPlugin(settings)
	if err != nil {
		return nil, err
	}
	return p.with(now), nil
}

// UninstallHooks takes the plugin out, and leaves another's file, and what its
// user has added, alone.
func (Adapter) UninstallHooks(settings []byte) (out []byte, remove bool, err error) {
	p, err := findPlugin(settings)
	switch {
	case errors.Is(err, sessions.ErrForeignFile):
		return settings, false, nil
	case err != nil:
		return nil, false, err
	}
	out = p.with(nil)
	return out, len(out) == 0, nil
}

// HookCommands returns the command that the plugin calls. One that another
// version of Umbra wrote lacks what this one's hears.
func (Adapter) HookCommands(settings []byte) (commands, missing []string, err error) {
	p, err := findPlugin(settings)
	switch {
	case errors.Is(err, sessions.ErrForeignFile):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	before, _, _ := bytes.Cut(plugin, []byte(hookMark))
	variable := before[bytes.LastIndexByte(before, '\n')+1:]
	_, rest, ok := bytes.Cut(p.ours, variable)
	if !ok {
		return nil, []string{"all"}, nil
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	var command string
	if err := json.Unmarshal(line, &command); err != nil {
		return nil, []string{"all"}, nil
	}
	if now, err := pluginFor(command); err != nil || !bytes.Equal(now, p.ours) {
		missing = []string{"those of this version of Umbra"}
	}
	return []string{command}, missing, nil
}
