package pi

import "github.com/umbra-vcs/umbra/sessions/cmdline"

// longer are the short options of version 1.5.2 of two and three letters.
var longer = map[string]string{
	"-nt": "--no-tools", "-nbt": "--no-builtin-tools", "-xt": "--exclude-tools", "-ne": "--no-extensions", "-ns": "--no-skills",
	"-np": "--no-prompt-templates", "-nc": "--no-context-files", "-na": "--no-approve",
}

// parse reads a command line's words after the program. pi takes no value that is joined to
// an option by "=".
func parse(words []string) cmdline.Arguments {
	plain := make([]string, len(words))
	rest := false
	for i, word := range words {
		rest = rest || word == "--"
		if long, ok := longer[word]; ok && !rest {
			word = long
		}
		plain[i] = word
	}
	return grammar().Parse(plain)
}

// grammar is the options of version 1.5.2 (dist/cli/args.js).
func grammar() cmdline.Grammar {
	g := cmdline.Grammar{Options: map[string]cmdline.Arity{"--print": cmdline.Optional, "--list-models": cmdline.Optional}, Short: map[byte]string{
		'h': "--help", 'v': "--version", 'c': "--continue", 'r': "--resume", 'n': "--name", 't': "--tools", 'p': "--print", 'e': "--extension", 'a': "--approve",
	}}
	for _, name := range []string{
		"--mode", "--provider", "--model", "--api-key", "--system-prompt", "--append-system-prompt", "--name", "--session", "--session-id", "--fork",
		"--session-dir", "--models", "--tools", "--exclude-tools", "--thinking", "--export", "--extension", "--skill", "--prompt-template", "--theme",
		"--use-theme", "--tui-mode",
	} {
		g.Options[name] = cmdline.One
	}
	return g
}
