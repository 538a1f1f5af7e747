package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// ended is an exit code with nothing left to say: the agent's own, or that of
// something done in part.
type ended int

func (e ended) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// partly is the exit code of what was done in part.
const partly ended = 3

// beforeAgent wraps an error that kept an agent from being started.
type beforeAgent struct{ error }

func (e beforeAgent) Unwrap() error { return e.error }

const codeBeforeAgent = 125

// report prints an error as the user is to see it, and returns the exit code.
func report(env Env, globals Globals, err error) int {
	if err == nil {
		return 0
	}
	if code, ok := errors.AsType[ended](err); ok {
		return int(code)
	}
	e := missions.AsError(err)
	code := e.Kind.ExitCode()
	if _, ok := errors.AsType[beforeAgent](err); ok && e.Kind != missions.KindUsage && e.Kind != missions.KindInterrupted {
		code = codeBeforeAgent
	}
	if globals.JSON {
		printErrorJSON(env, e, code)
		return code
	}
	message := e.Message
	if message == "" {
		message = string(e.Kind)
	}
	fmt.Fprintf(env.Stderr, "umbra: %s\n", cleanLines(message))
	for line := range strings.SplitSeq(e.Hint, "\n") {
		if line != "" {
			fmt.Fprintf(env.Stderr, "  %s\n", clean(line))
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
