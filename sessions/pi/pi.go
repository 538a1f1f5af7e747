// Package pi knows pi (@earendil-works/pi-coding-agent): where its session files live, how
// they are read, cut and rewritten, how it is launched and resumed, and what an extension
// of Umbra's, which pi runs, tells of it. It covers version 1.5.2, whose formats it learnt
// from pi's own docs (docs/session-format.md, docs/extensions.md, docs/cli.md) and by
// watching it. It must not write files, nor know of missions or Git.
package pi

import (
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// Adapter is the sessions.Adapter of pi. Its zero value is ready.
type Adapter struct{}

var (
	_ sessions.Adapter     = Adapter{}
	_ sessions.Relocatable = Adapter{}
	_ sessions.Listing     = Adapter{}
	_ sessions.Installing  = Adapter{}
	_ sessions.Answering   = Adapter{}
	_ sessions.Headless    = Adapter{}
	_ sessions.Modelled    = Adapter{}
	_ sessions.Packaged    = Adapter{}
)

// Name is "pi".
func (Adapter) Name() string { return "pi" }

const (
	varDirectory = "PI_CODING_AGENT_DIR"
	varSessions  = "PI_CODING_AGENT_SESSION_DIR"
	varSession   = "PI_SESSION_ID"
)

// Variables names what decides where the sessions and the settings are.
func (Adapter) Variables() []string { return []string{varDirectory, varSessions} }

// StoreVariables names the same.
func (a Adapter) StoreVariables() []string { return a.Variables() }

// SessionVariables are those by which a session marks its tools.
func SessionVariables() []string {
	return []string{varSession, "PI_SESSION_FILE", "PI_CODING_AGENT"}
}

// packageName is pi's on npm.
const packageName = "@earendil-works/pi-coding-agent"

// Runs reports whether argv starts pi: the program itself, or node on the script of the
// npm package.
func (Adapter) Runs(argv []string) bool { return programIndex(argv) >= 0 }

// programIndex is the index in argv of the word that names pi; its own arguments follow.
// -1 if argv starts something else.
func programIndex(argv []string) int {
	return sessions.ProgramAt(argv, "pi", "pi-coding-agent/dist/bundle/cli.js", "pi-coding-agent/dist/cli.js")
}

// Root is $PI_CODING_AGENT_DIR, else ~/.pi/agent.
func (Adapter) Root(env sessions.Environ) string {
	if dir := env.Vars[varDirectory]; dir != "" {
		return env.Expand(dir)
	}
	return filepath.Join(env.Home, ".pi", "agent")
}

// NewID is the random UUID as one of version 7, as pi's own are: it begins with the time,
// and so tells the name of the session's file.
func (Adapter) NewID(random string, at time.Time) string { return sessions.NewTimedID(random, at) }

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "", "1.5.2" }

// Client implements sessions.Versioned: no session tells.
func (Adapter) Client(string) string { return "" }

// Installed implements sessions.Packaged.
func (Adapter) Installed(argv []string) string {
	return sessions.PackageVersion(argv, programIndex(argv), packageName)
}
