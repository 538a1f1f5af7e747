// Package cmdline reads an agent's own command line, of which Umbra changes a
// few words and keeps the rest as it was typed. It knows no agent: which options
// take values, a Grammar says.
package cmdline

import "strings"

// Arity says how many words follow an option.
type Arity int

// The arities of options.
const (
	Alone    Arity = iota
	One            // the next word, whatever it looks like
	Optional       // the next word unless it looks like an option
	Many           // one, and all further words up to the next option
)

// A Grammar is the options of a program. What is in neither table stands alone.
type Grammar struct {
	Options map[string]Arity // by their long names, dashes included
	Short   map[byte]string  // the long names of short options
	// Eats says that more words may follow the first of an option of Many though
	// that is joined to it, as in --file=a b: yargs takes them, commander and clap
	// do not.
	Eats bool
}

// Argument is an option with its values, or, without a name, one positional
// word.
type Argument struct {
	Name   string
	Values []string
	Words  []string // as it was typed
	Plain  bool     // a word that stood behind "--"
}

// Parse reads a program's arguments as the usual parsers do (commander, clap).
// Combined short options come apart. What follows "--" is positional.
func (g Grammar) Parse(words []string) Arguments {
	var args Arguments
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch {
		case word == "--":
			for _, rest := range words[i+1:] {
				args = append(args, Argument{Values: []string{rest}, Words: []string{rest}, Plain: true})
			}
			return args
		case !looksLikeOption(word):
			args = append(args, Argument{Values: []string{word}, Words: []string{word}})
			continue
		}
		for _, a := range g.open(word) {
			n := g.wants(a, words[i+1:])
			a.Values = append(a.Values, words[i+1:i+1+n]...)
			a.Words = append(a.Words, words[i+1:i+1+n]...)
			i += n
			args = append(args, a)
		}
	}
	return args
}

func looksLikeOption(word string) bool { return len(word) > 1 && word[0] == '-' }

// open reads one word: --name, --name=value, -n, -nvalue or -abc.
func (g Grammar) open(word string) []Argument {
	if strings.HasPrefix(word, "--") {
		name, value, ok := strings.Cut(word, "=")
		a := Argument{Name: name, Words: []string{word}}
		if ok {
			a.Values = []string{value}
		}
		return []Argument{a}
	}
	var args []Argument
	for rest := word[1:]; rest != ""; {
		name, known := g.Short[rest[0]]
		if !known {
			return append(args, Argument{Name: "-" + rest, Words: []string{"-" + rest}})
		}
		a := Argument{Name: name, Words: []string{"-" + rest[:1]}}
		rest = rest[1:]
		if g.Options[name] != Alone && rest != "" {
			a.Values, a.Words = []string{rest}, []string{a.Words[0] + rest}
			rest = ""
		}
		args = append(args, a)
	}
	return args
}

// wants is how many of the following words are the option's values.
func (g Grammar) wants(a Argument, rest []string) int {
	n := 0
	switch g.Options[a.Name] {
	case One:
		if len(a.Values) == 0 && len(rest) > 0 {
			return 1
		}
	case Optional:
		if len(a.Values) == 0 && len(rest) > 0 && !looksLikeOption(rest[0]) {
			return 1
		}
	case Many:
		if len(a.Values) > 0 && !g.Eats {
			return 0
		}
		if len(a.Values) == 0 && len(rest) > 0 {
			n = 1
		}
		for n < len(rest) && !looksLikeOption(rest[n]) {
			n++
		}
	}
	return n
}
