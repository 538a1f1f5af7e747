package opencode

import "slices"

// interactive are options of 1.18.33 that `opencode run` does not take.
var interactive = []string{"--prompt", "--hostname", "--mdns", "--mdns-domain", "--cors", "--mini", "--no-replay", "--replay-limit", "--interactive"}

// Headless implements sessions.Headless: opencode run answers and ends.
func (a Adapter) Headless(command []string) []string {
	if !a.Runs(command) {
		return command
	}
	args := grammar().Parse(command[1:]).Without(append(slices.Clone(interactive), "")...)
	return slices.Concat(command[:1], []string{"run"}, args.Words())
}

// WithModel implements sessions.Modelled: a model is PROVIDER/MODEL.
func (a Adapter) WithModel(command []string, model string) []string {
	if !a.Runs(command) {
		return command
	}
	return slices.Concat(command[:1], grammar().Parse(command[1:]).WordsWith("--model", model))
}
