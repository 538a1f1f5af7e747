package jsonlines

import (
	"bytes"
	"strings"
)

// newHomeMatcher matches a path below the user's home as it is called by ~ or $HOME; nil
// if it is not below it. What is below the home as well is called by the same name then.
func newHomeMatcher(from, to, home string, plain bool) *pathMatcher {
	rest, ok := below(from, home)
	if !ok || rest == "" || from == to {
		return nil
	}
	newRest, keep := below(to, home)
	if keep = keep && newRest != ""; keep {
		to = newRest
	}
	m := newPathMatcher(rest, to, plain)
	if m != nil {
		m.home, m.keepHome = true, keep
	}
	return m
}

// homes are what shells put the user's home in the place of, in quotes or not, with those
// of a JSON string or not.
var homes = []string{`~`, `$HOME`, `${HOME}`, `"$HOME"`, `"${HOME}"`, `\"$HOME\"`, `\"${HOME}\"`}

// homeBefore is where what stands for the user's home before the slash at b[i] begins.
func homeBefore(b []byte, i int) (begin int, ok bool) {
	for escapes := 0; escapes < 2 && i > 0 && b[i-1] == '\\'; escapes++ {
		i-- // the slash's own escape
	}
	for _, home := range homes {
		if !bytes.HasSuffix(b[:i], []byte(home)) {
			continue
		}
		if begin = i - len(home); startsPath(b, begin) || isMention(b, begin) {
			return begin, !isElsewhere(b, begin)
		}
	}
	return 0, false
}

// isBelow reports whether what follows a path that ends at b[i] may be in it.
func (m *pathMatcher) isBelow(b []byte, i int) bool {
	rest := trimSlashes(b[i:])
	if len(m.names) == 0 || len(rest) == len(b)-i || len(rest) == 0 {
		return true
	}
	if c := rest[0]; c == '.' || !InName(rune(c)) || c >= 0x80 {
		return true // its end, or what names nothing but a file
	}
	for _, name := range m.names {
		if strings.HasPrefix(string(rest[:min(len(rest), len(name))]), name) && endsPath(rest, len(name)) {
			return true
		}
	}
	return false
}

// trimSlashes leaves out the slashes that b begins with, each with its own escapes: a
// backslash before anything else is another character's, as of a line's end.
func trimSlashes(b []byte) []byte {
	for _, slash := range slashForms {
		for bytes.HasPrefix(b, []byte(slash)) {
			b = b[len(slash):]
		}
	}
	return b
}
