package hook

import (
	"strings"

	"github.com/umbra-vcs/umbra/missions/events"
)

const sideHelp = `/umbra fork [TOPIC]      try something aside: a fork has this terminal, and begins with TOPIC;
                         with --in-place before TOPIC in these files, which are put back
/umbra exit              back, as if nothing had been
/umbra report [TEXT]     back, and the agent there is told TEXT, or what was answered last
/umbra promote           back, with all that was done in the fork`

// sideArgs is the command line for what was typed about side forks, nil if it is none of
// these commands.
func sideArgs(words []string, mission string) []string {
	if len(words) < 2 {
		return nil
	}
	text := strings.Join(words[2:], " ")
	switch words[1] {
	case "fork":
		args := []string{"fork", "enter"}
		if rest, ok := strings.CutPrefix(text+" ", "--in-place "); ok {
			args, text = append(args, "--in-place"), strings.TrimSpace(rest)
		}
		if text != "" {
			args = append(args, "--topic="+text)
		}
		return args
	case "exit":
		return []string{"fork", "exit"}
	case "report":
		args := []string{"fork", "report", mission}
		if text != "" {
			args = append(args, text)
		}
		return args
	case "promote":
		return []string{"promote"}
	}
	return nil
}

// isAboutSideForks reports whether what was typed is about side forks.
func isAboutSideForks(words []string) bool { return len(words) > 0 && words[0] == events.SideCommand }

// sideHints has an answer name what can be typed in the agent.
func sideHints(said string) string {
	return strings.NewReplacer("umbra fork exit", "/umbra exit", "umbra fork report", "/umbra report", "umbra fork enter", "/umbra fork").Replace(said)
}
