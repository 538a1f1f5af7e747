// Package codex knows OpenAI's Codex CLI: where its rollouts live, how they are
// read, cut and rewritten, how it is launched and resumed, and what its hooks
// say. It covers version 0.169.0, whose format it learnt by watching it, and
// takes what it does not know as foreign lines to keep. Codex's databases are
// indices of the rollouts, which it makes again by itself: they are left alone.
// It must not write files, nor know of missions or Git.
package codex

import (
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
)

// Adapter is the sessions.Adapter of Codex. Its zero value is ready; one that New made
// remembers which rollouts are subagents'.
type Adapter struct{ openings *openings }

// New is an Adapter for a process that looks again and again.
func New() Adapter { return Adapter{openings: &openings{}} }

var _ sessions.Adapter = Adapter{}

// Name is "codex".
func (Adapter) Name() string { return "codex" }

const varHome = "CODEX_HOME"

// Variables names what decides where the store is.
func (Adapter) Variables() []string { return []string{varHome} }

// StoreVariables names the same.
func (a Adapter) StoreVariables() []string { return a.Variables() }

// SessionVariables are those by which a session marks its tools.
func SessionVariables() []string {
	return []string{"CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID"}
}

// script is how the npm package's own script is called.
const script = "@openai/codex/bin/codex.js"

// Runs reports whether argv starts Codex with a person or a prompt. The server
// in the background, which runs the conversations of many, is none of them.
func (Adapter) Runs(argv []string) bool {
	at := sessions.ProgramAt(argv, "codex", script)
	return at >= 0 && !slices.Contains(argv[at+1:], "app-server")
}
