package call

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Ended is an exit code with nothing left to say: the agent's own, or that of
// something done in part.
type Ended int

func (e Ended) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// Partly is the exit code of what was done in part.
const Partly Ended = 3

// BeforeAgent wraps an error that kept an agent from being started.
func BeforeAgent(err error) error { return unstarted{err} }

type unstarted struct{ error }

func (e unstarted) Unwrap() error { return e.error }

const CodeBeforeAgent = 125

// Report prints an error as the user is to see it, and returns the exit code.
func Report(env Env, globals Globals, err error) int {
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[Ended](err); ok {
		return int(code)
	}
	e := missions.AsError(err)
	code := e.Kind.ExitCode()
	if _, ok := errors.AsType[unstarted](err); ok && e.Kind != missions.KindUsage && e.Kind != missions.KindInterrupted {
		code = CodeBeforeAgent
	}
	if globals.JSON {
		printErrorJSON(env, e, code)
		return code
	}
	message := e.Message
	if message == "" {
		message = string(e.Kind)
	}
	fmt.Fprintf(env.Stderr, "umbra: %s\n", print.CleanLines(message))
	for line := range strings.SplitSeq(e.Hint, "\n") {
		if line != "" {
			fmt.Fprintf(env.Stderr, "  %s\n", print.Clean(line))
		}
	}
	return code
}

func printErrorJSON(env Env, e *missions.Error, code int) {
	type shown struct {
		*missions.Error
		ExitCode int `json:"exit_code"`
	}
	p, err := json.Marshal(map[string]any{"error": shown{e, code}})
	if err != nil { // details that are no JSON
		p = fmt.Appendf(nil, `{"error":{"kind":%q,"message":%q,"exit_code":%d}}`, e.Kind, e.Message, code)
	}
	fmt.Fprintf(env.Stderr, "%s\n", p)
}
