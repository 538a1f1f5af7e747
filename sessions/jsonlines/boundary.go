package jsonlines

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// startsPath reports whether an absolute path can start with the slash at b[i]:
// what stands before it is no part of a longer path, such as the x of x/a or
// the second slash of x//a.
func startsPath(b []byte, i int) bool {
	for escapes := 0; escapes < 2 && i > 0 && b[i-1] == '\\'; escapes++ {
		i-- // the slash's own escape
	}
	if i == 0 || opensFile(b[:i]) {
		return true
	}
	switch c := b[i-1]; {
	case c >= utf8.RuneSelf:
		r, _ := utf8.DecodeLastRune(b[:i])
		return !InName(r)
	case c == '/':
		return bytes.HasSuffix(b[:i], []byte("://")) || bytes.HasSuffix(b[:i], []byte(`:\/\/`))
	case (c == 'n' || c == 'r' || c == 't' || c == 'b' || c == 'f') && i > 1 && b[i-2] == '\\':
		return true
	case jsontext.IsHex(c):
		r, ok := escapedBefore(b, i)
		return ok && !InName(r)
	case c == '}' || c == ')' || c == ']' || c == '*' || c == '?' || c == '.' || c == '~':
		return false // ${x}/a, $(x)/a, [x]/a, */a, ./a, ~/a
	default:
		return !InName(rune(c))
	}
}

// editors are the schemes of links that open a file in an editor, as vscode://file/a/b.go:3.
var editors = []string{"vscode", "vscode-insiders", "vscodium", "cursor", "windsurf", "zed"}

// opensFile reports whether a link to a file ends with its path to come.
func opensFile(b []byte) bool {
	for _, file := range []string{"://file", `:\/\/file`} {
		link, ok := bytes.CutSuffix(b, []byte(file))
		if !ok {
			continue
		}
		for _, scheme := range editors {
			if before, ok := bytes.CutSuffix(link, []byte(scheme)); ok {
				return len(before) == 0 || !InName(rune(before[len(before)-1])) || startsLine(before)
			}
		}
	}
	return false
}

// startsLine reports whether an escaped line end or tab stands at the end.
func startsLine(b []byte) bool {
	return len(b) > 1 && b[len(b)-2] == '\\' && bytes.IndexByte([]byte("nrt"), b[len(b)-1]) >= 0
}

// endsPath reports whether a path that reached b[i] ends there or goes on below.
// Full stops end a sentence unless a name goes on after them.
func endsPath(b []byte, i int) bool {
	if i >= len(b) || b[i] == '/' {
		return true
	}
	dots := i
	for i < len(b) && b[i] == '.' {
		i++
	}
	if i >= len(b) {
		return true
	}
	switch c := b[i]; {
	case c == '/':
		return dots == i
	case c >= utf8.RuneSelf:
		r, _ := utf8.DecodeRune(b[i:])
		return !InName(r)
	case c == '\\':
		return endsAtEscape(b, i, dots == i)
	default:
		return !InName(rune(c))
	}
}

// endsAtEscape judges a path that is followed by a backslash: a space escaped
// for a shell goes on with the name. below says that a slash may follow.
func endsAtEscape(b []byte, i int, below bool) bool {
	for i < len(b) && b[i] == '\\' {
		i++
	}
	switch {
	case i >= len(b):
		return true
	case b[i] == '/':
		return below
	case b[i] == 'u' && i+5 <= len(b):
		n, err := strconv.ParseUint(string(b[i+1:i+5]), 16, 16)
		return err != nil || !InName(rune(n))
	}
	return b[i] != ' '
}

// escapedBefore decodes a \uXXXX that ends at b[i].
func escapedBefore(b []byte, i int) (rune, bool) {
	if i < 6 || b[i-6] != '\\' || b[i-5] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b[i-4:i]), 16, 16)
	return rune(n), err == nil
}

// InName reports whether a character next to a path makes it another name.
// Half a surrogate pair counts: nearly all are letters or pictures.
func InName(r rune) bool {
	switch r {
	case '_', '-', '+', '@', '%', '~':
		return true
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Cs, r)
}
