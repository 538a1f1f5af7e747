// Package qwen knows Qwen Code: where its session files and those of its subagents live, how
// they are read, cut and rewritten, how it is launched and resumed, and what its hooks say.
// It covers version 0.24.4, whose formats it learnt by watching it and from the readable
// code of its npm package, and takes what it does not know as foreign lines to keep. It
// must not write files, nor know of missions or Git.
package qwen

import (
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// Adapter is the sessions.Adapter of Qwen Code. Its zero value is ready.
type Adapter struct{}

var (
	_ sessions.Adapter        = Adapter{}
	_ sessions.Relocatable    = Adapter{}
	_ sessions.Listing        = Adapter{}
	_ sessions.Sided          = Adapter{}
	_ sessions.SideChoosing   = Adapter{}
	_ sessions.LateWriting    = Adapter{}
	_ sessions.Installing     = Adapter{}
	_ sessions.Silencing      = Adapter{}
	_ sessions.Headless       = Adapter{}
	_ sessions.Modelled       = Adapter{}
	_ sessions.WorktreeMaking = Adapter{}
	_ sessions.Versioned      = Adapter{}
)

// Name is "qwen".
func (Adapter) Name() string { return "qwen" }

const (
	varHome     = "QWEN_HOME"
	varRuntime  = "QWEN_RUNTIME_DIR"
	varSystem   = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
	varDefaults = "QWEN_CODE_SYSTEM_DEFAULTS_PATH"
)

// Variables names what decides where the sessions and the settings are.
func (a Adapter) Variables() []string { return append(a.StoreVariables(), varSystem, varDefaults) }

// StoreVariables names what decides where the sessions are.
func (Adapter) StoreVariables() []string { return []string{varHome, varRuntime} }

// SessionVariables are those by which a session marks its hooks and its tools. The token
// lets whoever has it speak in the session.
func SessionVariables() []string {
	return []string{
		"QWEN_CODE_SESSION_ID", "QWEN_CODE_PROMPT_ID", "QWEN_CODE_AGENT_ID", "QWEN_CODE_PROJECT_DIR", "QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR",
		"QWEN_CODE_MESSAGING_SOCKET", "QWEN_CODE_MESSAGING_TOKEN", "QWEN_CODE_LAUNCHER_PID", "QWEN_CODE_PRIVATE_RELAUNCH_ENV_PROVENANCE",
	}
}

// NewID is the random UUID.
func (Adapter) NewID(random string, _ time.Time) string { return random }

// Runs reports whether argv starts Qwen Code: the program itself, or node on a script of
// the npm package.
func (Adapter) Runs(argv []string) bool { return programIndex(argv) >= 0 }

// programIndex is the index in argv of the word that names Qwen Code; its own arguments
// follow. -1 if argv starts something else.
func programIndex(argv []string) int {
	return sessions.ProgramAt(argv, "qwen", "qwen-code/cli-entry.js", "qwen-code/cli.js")
}

// Tried implements sessions.Versioned.
func (Adapter) Tried() (oldest, newest string) { return "", "0.24.4" }

// Client implements sessions.Versioned.
func (Adapter) Client(path string) string { return jsonlines.NewestText(path, "version") }
