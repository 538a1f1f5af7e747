package claude

import "slices"

// Headless implements sessions.Headless: claude --print prints the answer and ends.
func (Adapter) Headless(command []string) (answering []string, already bool) {
	at := programIndex(command)
	if at < 0 {
		return command, false
	}
	args := grammar().Parse(command[at+1:]).Without("")
	if already = args.Has("--print"); !already {
		args = args.First("--print")
	}
	return slices.Concat(command[:at+1], args.Words()), already
}

// WithModel implements sessions.Modelled.
func (Adapter) WithModel(command []string, model string) []string {
	at := programIndex(command)
	if at < 0 {
		return command
	}
	return slices.Concat(command[:at+1], grammar().Parse(command[at+1:]).WordsWith("--model", model))
}
