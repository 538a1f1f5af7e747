package pi

import (
	"slices"

	"github.com/umbra-vcs/umbra/sessions/cmdline"
)

// Headless implements sessions.Headless: pi --print answers and ends.
func (a Adapter) Headless(command []string) (answering []string, already bool) {
	at := programIndex(command)
	if at < 0 {
		return command, false
	}
	args := parse(command[at+1:])
	already = isHeadless(args)
	kept := args.Without("", "--print", "--tui-mode").Words()
	if !already || args.Has("--print") {
		kept = append(kept, "--print")
	}
	return slices.Concat(command[:at+1], kept), already
}

// isHeadless reports whether pi answers its prompt and ends.
func isHeadless(args cmdline.Arguments) bool {
	mode, _ := args.Value("--mode")
	return args.Has("--print") || mode == "json"
}

// WithModel implements sessions.Modelled.
func (a Adapter) WithModel(command []string, model string) []string {
	at := programIndex(command)
	if at < 0 {
		return command
	}
	return slices.Concat(command[:at+1], parse(command[at+1:]).WordsWith("--model", model))
}
