package gemini

import "slices"

// Headless implements sessions.Headless: gemini --prompt answers and ends. The prompt is
// empty here, and the launch puts its own in the place.
func (Adapter) Headless(command []string) (answering []string, already bool) {
	i := programIndex(command)
	if i < 0 {
		return command, false
	}
	given := grammar().Parse(command[i+1:])
	args := given.Without(append(slices.Clone(prompting), "")...)
	return slices.Concat(command[:i+1], args.First("--prompt=").Words()), given.Has("--prompt")
}

// WithModel implements sessions.Modelled.
func (Adapter) WithModel(command []string, model string) []string {
	i := programIndex(command)
	if i < 0 {
		return command
	}
	return slices.Concat(command[:i+1], grammar().Parse(command[i+1:]).WordsWith("--model", model))
}
