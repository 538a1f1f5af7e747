// Package opencode knows OpenCode, whose conversations are in a database that
// Umbra neither reads nor writes. A plugin of Umbra's, which OpenCode runs, writes
// what is said to a file of lines: that is the session's main file, read, cut and
// rewritten as other agents' files are. A rewritten one gets into the database by
// OpenCode's own import command. It covers version 1.18.33, whose events and
// exports it learnt by watching them. It must not write files, nor know of
// missions or Git.
package opencode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// Adapter is the sessions.Adapter of OpenCode. Its zero value is ready.
type Adapter struct{}

var (
	_ sessions.Adapter  = Adapter{}
	_ sessions.Importer = Adapter{}

	_ sessions.Answering = Adapter{}
)

// Name is "opencode".
func (Adapter) Name() string { return "opencode" }

const (
	varData      = "XDG_DATA_HOME"
	varConfig    = "XDG_CONFIG_HOME"
	varState     = "XDG_STATE_HOME"
	varDatabase  = "OPENCODE_DB"
	varFile      = "OPENCODE_CONFIG"
	varDirectory = "OPENCODE_CONFIG_DIR"
	varPID       = "OPENCODE_PID"
)

// Variables names what decides where the store and the settings are.
func (Adapter) Variables() []string {
	return []string{varData, varConfig, varDatabase, varFile, varDirectory}
}

// StoreVariables names where the database and the plugin's files are; its settings
// are those of the shell that it is resumed in.
func (Adapter) StoreVariables() []string { return []string{varData, varDatabase} }

// HookVariables names what tells which process it is.
func (Adapter) HookVariables() []string { return []string{varPID} }

// SessionVariables are those by which a session marks its tools.
func SessionVariables() []string { return []string{varPID} }

// PID is the process that calls the hook.
func (Adapter) PID(env sessions.Environ) (pid int, told bool) {
	v, told := env.Vars[varPID]
	pid, err := strconv.Atoi(v)
	if err != nil || pid < 0 {
		pid = 0
	}
	return pid, told
}

// Runs reports whether argv starts OpenCode.
func (Adapter) Runs(argv []string) bool {
	return len(argv) > 0 && sessions.Program(argv[0]) == "opencode"
}

// Root is the directory below OpenCode's data that the plugin writes to.
func (Adapter) Root(env sessions.Environ) string {
	return filepath.Join(xdg(env, varData, ".local", "share"), "opencode", "umbra")
}

// xdg is a directory of the XDG base directory specification.
func xdg(env sessions.Environ, name string, below ...string) string {
	if dir := env.Vars[name]; filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(append([]string{env.Home}, below...)...)
}

// NewID is a session id as OpenCode makes them: a time that counts down, so that
// the newest is listed first, and random letters.
func (Adapter) NewID(random string, at time.Time) string {
	const low = 1<<48 - 1
	letters := strings.ReplaceAll(random, "-", "")
	return fmt.Sprintf("ses_%012x%.14s", ^(at.UnixMilli()<<12)&low, letters[min(len(letters), 18):])
}

// isID reports whether s can be the name of a session's file.
func isID(s string) bool {
	return s != "" && !slices.ContainsFunc([]byte(s), func(c byte) bool { return !isAlnum(c) && c != '_' && c != '-' })
}

func isAlnum(c byte) bool { return slices.Index(base62, c) >= 0 }
