package opencode

import "slices"

// interactive are options of 1.18.33 that `opencode run` does not take.
var interactive = []string{"--prompt", "--hostname", "--mdns", "--mdns-domain", "--cors", "--mini", "--no-replay", "--replay-limit", "--interactive"}

// Headless implements sessions.Headless: opencode run answers and ends.
func (a Adapter) Headless(command []string) (answering []string, already bool) {
	if !a.Runs(command) {
		return command, false
	}
	given := grammar().Parse(command[1:])
	words := given.Positionals()
	args := given.Without(append(slices.Clone(interactive), "")...)
	return slices.Concat(command[:1], []string{"run"}, args.Words()), len(words) > 0 && words[0] == "run"
}

// WithModel implements sessions.Modelled: a model is PROVIDER/MODEL.
func (a Adapter) WithModel(command []string, model string) []string {
	if !a.Runs(command) {
		return command
	}
	return slices.Concat(command[:1], grammar().Parse(command[1:]).WordsWith("--model", model))
}
