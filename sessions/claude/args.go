package claude

import "strings"

// arity says how many words follow an option.
type arity int

const (
	alone    arity = iota
	one            // the next word, whatever it looks like
	optional       // the next word unless it looks like an option
	many           // one, and all further words up to the next option
)

// options are those of versions 1.0.128 to 2.1.329, hidden ones too, that take a
// value. Every other option stands alone.
var options = map[string]arity{
	"--resume": optional, "--session-id": one, "--resume-session-at": one, "--rewind-files": one,
	"--from-pr": optional, "--teleport": optional, "--cloud": optional, "--remote": one, "--name": one,
	"--settings": one, "--setting-sources": one, "--model": one, "--fallback-model": one, "--effort": one,
	"--permission-mode": one, "--permission-prompts": one, "--permission-prompt-tool": one,
	"--output-format": one, "--input-format": one, "--json-schema": one, "--max-turns": one,
	"--max-budget-usd": one, "--max-thinking-tokens": one, "--autocompact": one, "--environment": one,
	"--system-prompt": one, "--system-prompt-file": one, "--system-prompt-snapshot": one,
	"--append-system-prompt": one, "--append-system-prompt-file": one,
	"--agent": one, "--agents": one, "--advisor": one, "--prefill": one, "--sdk-url": one,
	"--debug": optional, "--debug-file": one, "--plugin-url": one, "--worktree": optional,
	"--remote-control": optional, "--remote-control-session-name-prefix": one, "--prompt-suggestions": optional,
	"--add-dir": many, "--allowedTools": many, "--allowed-tools": many, "--disallowedTools": many,
	"--disallowed-tools": many, "--tools": many, "--betas": many, "--mcp-config": many,
	"--plugin-dir": many, "--file": many, "--channels": many,
}

var shortOptions = map[byte]string{
	'p': "--print", 'c': "--continue", 'r': "--resume", 'd': "--debug", 'n': "--name", 'w': "--worktree",
	'v': "--version", 'h': "--help",
}

// argument is an option with its values, or, without a name, one positional
// word.
type argument struct {
	name   string
	values []string
	words  []string // as it was typed
}

// parseArgs reads Claude Code's arguments as commander, its parser, does.
// Combined short options come apart. What follows "--" is positional.
func parseArgs(words []string) []argument {
	var args []argument
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "--":
			for _, rest := range words[i+1:] {
				args = append(args, argument{values: []string{rest}, words: []string{rest}})
			}
			return args
		case !looksLikeOption(word):
			args = append(args, argument{values: []string{word}, words: []string{word}})
			continue
		}
		for _, a := range openOption(word) {
			n := a.wants(words[i+1:])
			a.values = append(a.values, words[i+1:i+1+n]...)
			a.words = append(a.words, words[i+1:i+1+n]...)
			i += n
			args = append(args, a)
		}
	}
	return args
}

func looksLikeOption(word string) bool { return len(word) > 1 && word[0] == '-' }

// openOption reads one word: --name, --name=value, -n, -nvalue or -abc.
func openOption(word string) []argument {
	if strings.HasPrefix(word, "--") {
		name, value, ok := strings.Cut(word, "=")
		a := argument{name: name, words: []string{word}}
		if ok {
			a.values = []string{value}
		}
		return []argument{a}
	}
	var args []argument
	for rest := word[1:]; rest != ""; {
		name, known := shortOptions[rest[0]]
		if !known {
			return append(args, argument{name: "-" + rest, words: []string{"-" + rest}})
		}
		a := argument{name: name, words: []string{"-" + rest[:1]}}
		rest = rest[1:]
		if options[name] != alone && rest != "" {
			a.values, a.words = []string{rest}, []string{a.words[0] + rest}
			rest = ""
		}
		args = append(args, a)
	}
	return args
}

// wants is how many of the following words are the option's values.
func (a argument) wants(rest []string) int {
	n := 0
	switch options[a.name] {
	case one:
		if len(a.values) == 0 && len(rest) > 0 {
			return 1
		}
	case optional:
		if len(a.values) == 0 && len(rest) > 0 && !looksLikeOption(rest[0]) {
			return 1
		}
	case many:
		if len(a.values) == 0 && len(rest) > 0 {
			n = 1
		}
		for n < len(rest) && !looksLikeOption(rest[n]) {
			n++
		}
	}
	return n
}
