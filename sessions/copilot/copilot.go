// Package copilot knows GitHub Copilot CLI (@github/copilot): where its session files lie,
// how they are read, cut and rewritten, how it is launched and resumed, and what its hooks
// tell. It covers version 1.0.102, whose formats it learnt from the schema in its package
// (schemas/session-events.schema.json) and by watching it. It must not write files, nor
// know of missions or Git.
package copilot

import (
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// Adapter is the sessions.Adapter of Copilot CLI. Its zero value is ready.
type Adapter struct{}

var (
	_ sessions.Adapter        = Adapter{}
	_ sessions.Relocatable    = Adapter{}
	_ sessions.Listing        = Adapter{}
	_ sessions.Sided          = Adapter{}
	_ sessions.Dated          = Adapter{}
	_ sessions.Trailing       = Adapter{}
	_ sessions.Registering    = Adapter{}
	_ sessions.Telling        = Adapter{}
	_ sessions.Installing     = Adapter{}
	_ sessions.Silencing      = Adapter{}
	_ sessions.Headless       = Adapter{}
	_ sessions.Modelled       = Adapter{}
	_ sessions.WorktreeMaking = Adapter{}
	_ sessions.Packaged       = Adapter{}
	_ sessions.Switcher       = Adapter{}
)

// Name is "copilot".
func (Adapter) Name() string { return "copilot" }

const (
	varDirectory = "COPILOT_HOME"
	varItself    = "COPILOT_CLI" // set for all that it runs, its hooks too
)

// Variables names what decides where the sessions and the settings are.
func (Adapter) Variables() []string { return []string{varDirectory} }

// StoreVariables names the same.
func (a Adapter) StoreVariables() []string { return a.Variables() }

// HookVariables implements sessions.Telling. Copilot sets CLAUDE_PROJECT_DIR for its hooks
// too, which tells nothing.
func (Adapter) HookVariables() []string { return []string{varItself} }

// PID implements sessions.Telling: no variable tells.
func (Adapter) PID(sessions.Environ) (pid int, told bool) { return 0, false }

// SessionVariables are those by which a session marks its tools.
func SessionVariables() []string {
	return []string{varItself, "COPILOT_AGENT_SESSION_ID", "COPILOT_CLI_BINARY_VERSION", "COPILOT_CLI_RESOLVED_DIST_DIR"}
}

// packageName is Copilot's on npm.
const packageName = "@github/copilot"

// Runs reports whether argv starts Copilot: the program itself, or node on the script of
// the npm package that starts it.
func (Adapter) Runs(argv []string) bool { return programIndex(argv) >= 0 }

// programIndex is the index in argv of the word that names Copilot; its own arguments
// follow. -1 if argv starts something else.
func programIndex(argv []string) int {
	return sessions.ProgramAt(argv, "copilot", packageName+"/npm-loader.js")
}

// Root is $COPILOT_HOME, else ~/.copilot.
func (Adapter) Root(env sessions.Environ) string {
	if dir := env.Vars[varDirectory]; dir != "" {
		return filepath.Clean(dir)
	}
	return filepath.Join(env.Home, ".copilot")
}

// NewID is the random UUID: Copilot's own are such ones.
func (Adapter) NewID(random string, _ time.Time) string { return random }

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "", "1.0.102" }

// Installed implements sessions.Packaged.
func (Adapter) Installed(argv []string) string {
	return sessions.PackageVersion(argv, programIndex(argv), packageName)
}

// Switch implements sessions.Switcher.
func (Adapter) Switch(id string) string {
	if id == "" {
		return "/clear"
	}
	return "/resume " + id
}
