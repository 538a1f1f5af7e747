package copilot

import "slices"

// promptOptions are the options that have a prompt: there is no other place for one.
var promptOptions = []string{"--prompt", "--interactive"}

// Headless implements sessions.Headless: copilot --prompt answers and ends. The prompt is
// empty here, and the launch puts its own in the place.
func (Adapter) Headless(command []string) (answering []string, already bool) {
	at := programIndex(command)
	if at < 0 {
		return command, false
	}
	given := grammar().Parse(command[at+1:])
	args := given.Without(append(slices.Clone(promptOptions), "")...)
	return slices.Concat(command[:at+1], args.First("--prompt=").Words()), given.Has("--prompt")
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
	return slices.Concat(command[:at+1], grammar().Parse(command[at+1:]).WordsWithout("--worktree"))
}
