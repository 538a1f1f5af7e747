package claude

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// startsPath reports whether an absolute path can start with the slash at b[i]:
// what stands before it is no part of a longer path, such as the x of x/a or
// the second slash of x//a.
func startsPath(b []byte, i int) bool {
	for escapes := 0; escapes < 2 && i > 0 && b[i-1] == '\\'; escapes++ {
		i-- // the slash's own escape
	}
	if i == 0 {
		return true
	}
	switch c := b[i-1]; {
	case c >= utf8.RuneSelf:
		r, _ := utf8.DecodeLastRune(b[:i])
		return !inName(r)
	case c == '/':
		return bytes.HasSuffix(b[:i], []byte("://")) || bytes.HasSuffix(b[:i], []byte(`:\/\/`))
	case (c == 'n' || c == 'r' || c == 't' || c == 'b' || c == 'f') && i > 1 && b[i-2] == '\\':
		return true
	case isHex(c):
		r, ok := escapedBefore(b, i)
		return ok && !inName(r)
	case c == '}' || c == ')' || c == ']' || c == '*' || c == '?' || c == '.' || c == '~':
		return false // ${x}/a, $(x)/a, [x]/a, */a, ./a, ~/a
	default:
		return !inName(rune(c))
	}
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
		return !inName(r)
	case c == '\\':
		return endsAtEscape(b, i, dots == i)
	default:
		return !inName(rune(c))
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
		return err != nil || !inName(rune(n))
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

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// inName reports whether a character next to a path makes it another name.
// Half a surrogate pair counts: nearly all are letters or pictures.
func inName(r rune) bool {
	switch r {
	case '_', '-', '+', '@', '%', '~':
		return true
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Cs, r)
}
