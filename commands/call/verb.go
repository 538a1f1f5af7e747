package call

import (
	"strings"

	"github.com/umbra-vcs/umbra/commands/flags"
)

// Verb is one command: what it is called, what it takes and what it does. The
// argument pass, the help texts and the reference are all driven by it.
type Verb struct {
	Name     string
	Alias    string
	Args     string // the synopsis of its arguments
	Short    string // one line
	Long     string // more, if there is more to say
	Min, Max int    // how many arguments; max < 0 is any number
	// Instead is a flag with which any number of other arguments is given.
	Instead string
	// After is the synopsis of what follows `--`, which is then kept apart from
	// the arguments; "" makes it more of them.
	After string
	// Begins reports whether a word begins what is kept apart, as if `--` stood before it;
	// nil for a verb where nothing does.
	Begins func(word string) bool
	Hidden bool
	// Prints are values of what it prints as JSON: a field that --json names and none of
	// them has is refused before the verb does anything. Without any, its result says.
	Prints []any
	Flags  []flags.Flag
	Run    func(*Call) error
	Verbs  []*Verb
}

const AnyNumber = -1

func Find(verbs []*Verb, name string) *Verb {
	for _, v := range verbs {
		if v.Name == name || v.Alias == name && name != "" {
			return v
		}
	}
	return nil
}

// Usage is a verb's command line as one types it.
func Usage(at []string, v *Verb) string {
	parts := append([]string{"umbra"}, at...)
	if v.Run == nil {
		return strings.Join(append(parts, "COMMAND"), " ")
	}
	if len(v.Flags) > 0 {
		parts = append(parts, "[FLAGS]")
	}
	if v.Args != "" {
		parts = append(parts, v.Args)
	}
	if v.After != "" {
		parts = append(parts, v.After)
	}
	return strings.Join(parts, " ")
}
