// Package gemini knows Gemini CLI: where its session files and what belongs to
// them live, how they are read, cut and rewritten, how it is launched and
// resumed, and what its hooks say. It covers version 0.61.0, whose formats it
// learnt by watching it and from its source (packages/core/src/services/
// chatRecordingService.ts, config/projectRegistry.ts, hooks), and takes what it
// does not know as foreign lines to keep. It must not write files, nor know of
// missions or Git.
package gemini

import (
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// Adapter is the sessions.Adapter of Gemini CLI. Its zero value is ready.
type Adapter struct{}

var _ sessions.Adapter = Adapter{}

// Name is "gemini".
func (Adapter) Name() string { return "gemini" }

const varHome = "GEMINI_CLI_HOME"

// Variables names what decides where the store and the settings are.
func (Adapter) Variables() []string { return []string{varHome} }

// StoreVariables names the same.
func (a Adapter) StoreVariables() []string { return a.Variables() }

// Root is .gemini in $GEMINI_CLI_HOME, else in the home directory.
func (Adapter) Root(env sessions.Environ) string {
	home := env.Vars[varHome]
	if home == "" {
		home = env.Home
	}
	return filepath.Join(home, ".gemini")
}

// NewID is the random UUID: the client takes any.
func (Adapter) NewID(random string, _ time.Time) string { return random }

// Runs reports whether argv starts Gemini CLI: the program itself, or node on
// the script of the npm package.
func (Adapter) Runs(argv []string) bool { return programIndex(argv) >= 0 }

// programIndex is the index in argv of the word that names Gemini CLI; its own
// arguments follow. -1 if argv starts something else.
func programIndex(argv []string) int {
	return sessions.ProgramAt(argv, "gemini", "gemini-cli/bundle/gemini.js", "gemini-cli/dist/index.js")
}
