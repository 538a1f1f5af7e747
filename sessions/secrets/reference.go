package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// isReference reports what begins as what another value is put in the place of, and has
// the shape of it.
func isReference(value []byte, quote byte) bool {
	if strings.IndexByte("$%*<{", value[0]) >= 0 && !isRandom(value, 3) {
		return true
	}
	rest := value[1:]
	switch value[0] {
	case '$':
		return isExpanded(rest, quote)
	case '%':
		return isFormat(rest)
	case '*': // a pattern, or what stands for what is not shown
		return strings.IndexByte("*./", rest[0]) >= 0
	case '<':
		return quote == 0 || bytes.IndexByte(rest, '>') >= 0
	case '{':
		return quote == 0 || bytes.IndexByte(rest, '}') >= 0
	}
	return false
}

// isFormat reports what is put in the place of %NAME%, %(name)s and %{name}, also at the
// beginning of a path; and what an address has for < $ and {, or for a text of other
// letters.
func isFormat(rest []byte) bool {
	if strings.IndexByte("({", rest[0]) >= 0 || bytes.HasSuffix(rest, []byte("%")) || bytes.Contains(rest[:min(len(rest), mostKeyName)], []byte("%/")) {
		return true
	}
	code := strings.ToLower(string(rest[:min(2, len(rest))]))
	return slices.Contains([]string{"3c", "24", "7b"}, code) || len(rest) > 2 && rest[2] == '%'
}

// isExpanded reports what is a variable or a command behind a dollar sign. Shells put
// nothing in its place between single quotes; other programs do, whose names are
// written in one case.
func isExpanded(rest []byte, quote byte) bool {
	if strings.IndexByte("({", rest[0]) >= 0 {
		return true
	}
	named := word[rest[0]] && !isDigit(rest[0])
	if quote != '\'' {
		return named
	}
	name, _, _ := bytes.Cut(rest, []byte("/")) // or a path that begins with one
	whole := !slices.ContainsFunc(name, func(c byte) bool { return !word[c] })
	oneCase := bytes.Equal(bytes.ToUpper(name), name) || bytes.Equal(bytes.ToLower(name), name)
	return named && whole && (oneCase || !isRandom(name, 3))
}
