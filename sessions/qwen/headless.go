package qwen

import (
	"slices"

	"github.com/umbra-vcs/umbra/sessions/cmdline"
)

// Headless implements sessions.Headless: qwen --prompt answers and ends. The prompt is empty
// here, and the launch puts its own in the place.
func (Adapter) Headless(command []string) (answering []string, already bool) {
	at := programIndex(command)
	if at < 0 {
		return command, false
	}
	given := grammar().Parse(command[at+1:])
	args := given.Without(append(slices.Clone(prompting), "")...)
	return slices.Concat(command[:at+1], args.First("--prompt=").Words()), isHeadless(given)
}

// isHeadless reports whether a command answers its prompt and ends: so it does with any that
// is not said to be the first of several.
func isHeadless(args cmdline.Arguments) bool {
	return args.Has("--prompt") || len(args.Positionals()) > 0 && !args.Has("--prompt-interactive")
}

// WithModel implements sessions.Modelled.
func (Adapter) WithModel(command []string, model string) []string {
	at := programIndex(command)
	if at < 0 {
		return command
	}
	return slices.Concat(command[:at+1], grammar().Parse(command[at+1:]).WordsWith("--model", model))
}

// WithoutWorktree implements sessions.WorktreeMaking.
func (Adapter) WithoutWorktree(command []string) []string {
	at := programIndex(command)
	if at < 0 {
		return command
	}
	return slices.Concat(command[:at+1], grammar().Parse(command[at+1:]).WordsWithout(worktree))
}
