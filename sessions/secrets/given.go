package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// isGiven reports whether a value is there, and no path, no variable and no sign that
// one is to be put there. What begins as those do is one only if it looks drawn by lot:
// of what is drawn in base64, one of 64 begins as a path does. Quote is what stands
// around the value, 0 for nothing.
func isGiven(value []byte, quote byte) bool {
	if len(bytes.Trim(value, "xX.*_-")) == 0 || isExample(value) {
		return false
	}
	if strings.IndexByte("/.$%*<{", value[0]) < 0 {
		return true
	}
	return isRandom(value, 3) && !isPath(value) && !isReference(value, quote)
}

// isExample reports a value that says of itself that it is none.
func isExample(value []byte) bool {
	lower := bytes.ToLower(value[:min(len(value), mostJudged)])
	return slices.ContainsFunc([]string{"your", "example", "xxxx", "placeholder", "changeme", "${", "{{", "://"}, func(word string) bool {
		return bytes.Contains(lower, []byte(word))
	})
}

// isPath reports what begins as a path does and has the shape of one: its first part is
// a name, or its last one ends as a file's name does.
func isPath(value []byte) bool {
	if value[0] != '/' && value[0] != '.' {
		return false
	}
	if up := bytes.TrimLeft(value, "."); len(up) < len(value) && up[0] == '/' {
		return true // ./ and ../
	}
	first, _, more := bytes.Cut(bytes.TrimLeft(value, "/."), []byte("/"))
	if more && isName(first) {
		return true
	}
	dot := bytes.LastIndexByte(value, '.')
	return dot > 0 && isEnding(value[dot+1:])
}

// isName reports what may be a directory's name: a word and a number, or several words.
func isName(part []byte) bool {
	if bytes.ContainsAny(part, "-_.") {
		return !isRandom(part, 3)
	}
	letters := bytes.TrimRight(part, "0123456789")
	if len(letters) == 0 {
		return len(part) >= 2
	}
	if len(part) >= 3 && isUpper(letters[0]) {
		letters = letters[1:]
	}
	return len(part) >= 2 && !slices.ContainsFunc(letters, func(c byte) bool { return !isLower(c) })
}

// isEnding reports what a file's name may end in.
func isEnding(text []byte) bool {
	small := func(c byte) bool { return isLower(c) || isDigit(c) }
	return len(text) > 0 && len(text) <= 5 && isLower(text[0]) && !slices.ContainsFunc(text, func(c byte) bool { return !small(c) })
}

// isReference reports what begins as what another value is put in the place of, and has
// the shape of it.
func isReference(value []byte, quote byte) bool {
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

// isFormat reports what is put in the place of %NAME%, %(name)s and %{name}; and what an
// address has for < $ and {, or for a text of other letters.
func isFormat(rest []byte) bool {
	if bytes.HasSuffix(rest, []byte("%")) || strings.IndexByte("({", rest[0]) >= 0 {
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
	whole := !slices.ContainsFunc(rest, func(c byte) bool { return !word[c] })
	oneCase := bytes.Equal(bytes.ToUpper(rest), rest) || bytes.Equal(bytes.ToLower(rest), rest)
	return named && whole && (oneCase || !isRandom(rest, 3))
}
