package missions

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

var (
	nameForm = pattern(`^[a-z0-9][a-z0-9._-]{0,62}$`)
	hexForm  = pattern(`^[0-9a-f]{4,40}$`)
	uuidForm = pattern(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	idPrefix = pattern(`^[0-9a-f][0-9a-f-]{3,35}$`)
)

// pattern is a regular expression that is compiled when it is first needed: a
// hook's process needs none.
func pattern(text string) func() *regexp.Regexp {
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
	case !nameForm().MatchString(name):
		return Errorf(KindUsage, hint, "%q can't be a name", name)
	case hexForm().MatchString(name) || uuidForm().MatchString(name):
		return Errorf(KindUsage, "put another letter in it", "%q can't be a name: it reads like an id", name)
	case reservedNames[name]:
		return Errorf(KindUsage, "choose another", "%q can't be a name: it is a word of the command line", name)
	case strings.Contains(name, "..") || strings.HasSuffix(name, ".") || strings.HasSuffix(name, ".lock"):
		return Errorf(KindUsage, "leave out '..', a final '.' and a final '.lock'", "%q can't be a name: it is no valid ref", name)
	}
	return nil
}

// nameFromPrompt makes a name of the first words of a prompt, or "".
func nameFromPrompt(prompt string) string {
	const most = 32
	var words []string
	length := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool {
		return !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)))
	}) {
		if fillers[w] {
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

// fillers are words that say little in a name.
var fillers = map[string]bool{
	"a": true, "an": true, "the": true, "please": true, "to": true, "of": true, "and": true,
	"in": true, "on": true, "for": true, "is": true, "it": true, "with": true, "that": true,
	"can": true, "you": true, "could": true, "would": true, "i": true, "we": true, "me": true, "my": true,
}

// takenNames tells whether a name is somebody's. Its error says that nobody knows.
type takenNames func(name string) (bool, error)

// free returns name, or name-2, name-3 … whichever is not taken.
func (t takenNames) free(name string) (string, error) {
	for n := 1; ; n++ {
		candidate := name
		if n > 1 {
			candidate = name + "-" + itoa(n)
		}
		if CheckName(candidate) != nil {
			continue
		}
		if is, err := t(candidate); !is || err != nil {
			return candidate, err
		}
	}
}

// numbered returns the first of base-1, base-2 … that is not taken.
func (t takenNames) numbered(base string) (string, error) {
	for n := 1; ; n++ {
		candidate := base + "-" + itoa(n)
		if is, err := t(candidate); !is || err != nil {
			return candidate, err
		}
	}
}

// given returns a name that somebody has asked for, if it is not taken.
func (t takenNames) given(name, hint string) (string, error) {
	is, err := t(name)
	if err == nil && is {
		err = Errorf(KindConflict, hint, "there is a mission %s in this project already", name)
	}
	return name, err
}

func itoa(n int) string { return strconv.Itoa(n) }

// oneLine joins what happened and its text for a snapshot's subject.
func oneLine(what, text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return what
	}
	return what + ": " + text
}

// ErrorLine is an agent's error on one line. What most APIs are quoted with says already
// that it is one.
func ErrorLine(message string) string {
	if strings.HasPrefix(message, "API Error") {
		return strings.Join(strings.Fields(message), " ")
	}
	return oneLine("error", message)
}

// mostPrompt bounds the prompt that a mission's record repeats, in bytes. The
// whole one is in the record of its turn's snapshots.
const mostPrompt = 4096

// beginning is as much of a text as fits into so many bytes.
func beginning(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
