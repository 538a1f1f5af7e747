package claude

import "slices"

// Headless implements sessions.Headless: claude --print prints the answer and ends.
func (Adapter) Headless(command []string) []string {
	at := programIndex(command)
	if at < 0 {
		return command
	}
	args := grammar().Parse(command[at+1:]).Without("")
	if !args.Has("--print") {
		args = args.First("--print")
	}
	return slices.Concat(command[:at+1], args.Words())
}

// WithModel implements sessions.Modelled.
func (Adapter) WithModel(command []string, model string) []string {
	at := programIndex(command)
	if at < 0 {
		return command
	}
	return slices.Concat(command[:at+1], grammar().Parse(command[at+1:]).WordsWith("--model", model))
}
