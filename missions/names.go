package missions

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// The looks of names and ids.
var (
	NamePattern     = LazyPattern(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	HexPattern      = LazyPattern(`^[0-9a-f]{4,40}$`)
	UUIDPattern     = LazyPattern(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	IDPrefixPattern = LazyPattern(`^[0-9a-f][0-9a-f-]{3,35}$`)
)

// AgentNames are the names of the agents that Umbra knows, for people.
const AgentNames = "claude, codex, gemini, opencode, pi, copilot or qwen"

// LazyPattern is a regular expression that is compiled when it is first needed: a
// hook's process needs none.
func LazyPattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// reservedNames are words of the command line that no mission may have.
var reservedNames = map[string]bool{
	"enter": true, "exit": true, "promote": true, "report": true, "run": true,
	"start": true, "fork": true, "help": true,
}

// CheckName reports why a name can't be a mission's, or a pin's. A name is
// also a component of a ref.
func CheckName(name string) error {
	const hint = "use lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit, at most 63"
	switch {
	case !NamePattern().MatchString(name):
		return Errorf(KindUsage, hint, "%q can't be a name", name)
	case HexPattern().MatchString(name) || UUIDPattern().MatchString(name):
		return Errorf(KindUsage, "put another letter in it", "%q can't be a name: it reads like an id", name)
	case reservedNames[name]:
		return Errorf(KindUsage, "choose another", "%q can't be a name: it is a word of the command line", name)
	case strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock"):
		return Errorf(KindUsage, "leave out '..', a final '.' and a final '.lock'", "%q can't be a name: it is no valid ref", name)
	}
	return nil
}

// NameFromPrompt makes a name of the first words of a prompt, or "".
func NameFromPrompt(prompt string) string {
	const most = 32
	var words []string
	length := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(withoutPasteTags(prompt)), func(r rune) bool {
		return !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)))
	}) {
		if fillerWords[w] {
			continue
		}
		if length+len(w)+1 > most || len(words) == 4 {
			break
		}
		words = append(words, w)
		length += len(w) + 1
	}
	name := strings.Join(words, "-")
	if CheckName(name) != nil {
		return ""
	}
	return name
}

// fillerWords are words that say little in a name.
var fillerWords = map[string]bool{
	"a": true, "an": true, "the": true, "please": true, "to": true, "of": true, "and": true,
	"in": true, "on": true, "for": true, "is": true, "it": true, "with": true, "that": true,
	"can": true, "you": true, "could": true, "would": true, "i": true, "we": true, "me": true, "my": true,
}

// TakenNames tells whether a name is somebody's. Its error says that nobody knows.
type TakenNames func(name string) (bool, error)

// FreeName returns name, or name-2, name-3 … whichever is not taken.
func (t TakenNames) FreeName(name string) (string, error) {
	for n := 1; ; n++ {
		candidate := name
		if n > 1 {
			candidate = name + "-" + Itoa(n)
		}
		if CheckName(candidate) != nil {
			continue
		}
		if is, err := t(candidate); !is || err != nil {
			return candidate, err
		}
	}
}

// NumberedName returns the first of base-1, base-2 … that is not taken.
func (t TakenNames) NumberedName(base string) (string, error) {
	for n := 1; ; n++ {
		candidate := base + "-" + Itoa(n)
		if is, err := t(candidate); !is || err != nil {
			return candidate, err
		}
	}
}

// CheckGivenName returns a name that somebody has asked for, if it is not taken.
func (t TakenNames) CheckGivenName(name, hint string) (string, error) {
	is, err := t(name)
	if err == nil && is {
		err = Errorf(KindConflict, hint, "there is a mission %s in this project already", name)
	}
	return name, err
}
