package cmdline

import "slices"

// Arguments are a command line taken apart, in its order.
type Arguments []Argument

// Positionals are the words that belong to no option.
func (a Arguments) Positionals() []string {
	var words []string
	for _, arg := range a {
		if arg.Name == "" {
			words = append(words, arg.Values...)
		}
	}
	return words
}

// Has reports whether one of the options of these names is there.
func (a Arguments) Has(names ...string) bool {
	return slices.ContainsFunc(a, func(arg Argument) bool { return slices.Contains(names, arg.Name) })
}

// Subcommand is the word by which the command does something else than most: its first
// positional word, if that is one of words, or an option of these names; "" if none is
// there.
func (a Arguments) Subcommand(words, options []string) string {
	if at := a.Positionals(); len(at) > 0 && slices.Contains(words, at[0]) {
		return at[0]
	}
	for _, name := range options {
		if a.Has(name) {
			return name
		}
	}
	return ""
}

// Value is the first value of the last option of that name that has one.
func (a Arguments) Value(name string) (value string, ok bool) {
	for _, arg := range a {
		if arg.Name == name && len(arg.Values) > 0 {
			value, ok = arg.Values[0], true
		}
	}
	return value, ok
}

// Without are the arguments but for the options of these names; "" is that of all
// positional words. a stays as it is.
func (a Arguments) Without(names ...string) Arguments {
	return slices.DeleteFunc(slices.Clone(a), func(arg Argument) bool { return slices.Contains(names, arg.Name) })
}

// WordsWithout are the words without the options of these names. If one was there, the
// positional words move behind "--": an option that takes many could swallow them.
func (a Arguments) WordsWithout(names ...string) []string {
	if !a.Has(names...) {
		return a.Words()
	}
	words := a.Without(append(slices.Clone(names), "")...).Words()
	if positional := a.Positionals(); len(positional) > 0 {
		words = append(append(words, "--"), positional...)
	}
	return words
}

// WordsWith are the words with one value of an option, before them all.
func (a Arguments) WordsWith(name, value string) []string {
	return append([]string{name, value}, a.WordsWithout(name)...)
}

// First are the arguments with an option before them all, where none of them can
// swallow it. a stays as it is.
func (a Arguments) First(words ...string) Arguments {
	return slices.Insert(slices.Clone(a), 0, Argument{Name: words[0], Values: words[1:], Words: words})
}

// Words are the arguments as they were typed, and so is what stood behind "--".
func (a Arguments) Words() []string {
	var words []string
	plain := false
	for _, arg := range a {
		if arg.Plain && !plain {
			words, plain = append(words, "--"), true
		}
		words = append(words, arg.Words...)
	}
	return words
}
