package secrets

import (
	"bytes"
	"slices"
)

// IsGiven reports whether a value is there, and no path, no variable and no sign that one
// is to be put there.
func IsGiven(value []byte) bool { return isGiven(value, 0) }

// isGiven reports whether a value is there, and no path, no variable and no sign that
// one is to be put there. Quote is what stands around the value, 0 for nothing.
func isGiven(value []byte, quote byte) bool {
	if len(bytes.Trim(value, "xX.*_-")) == 0 || isExample(value) {
		return false
	}
	return !isPath(value) && !isReference(value, quote)
}

// signs say of a value that another is to be put there, and examples are words of such ones.
var (
	signs    = []string{"${", "{{", "://"}
	examples = []string{"your", "example", "xxxx", "placeholder", "changeme"}
)

// isExample reports a value that says of itself that it is none. A word that ends what is
// drawn by lot all the same, as in the keys of some manuals, may be one of a real key.
func isExample(value []byte) bool {
	value = value[:min(len(value), mostJudged)]
	lower := lowered(value)
	isThere := func(word string) bool { return bytes.Contains(lower, []byte(word)) }
	return slices.ContainsFunc(signs, isThere) || slices.ContainsFunc(examples, func(word string) bool {
		at := bytes.Index(lower, []byte(word))
		return at >= 0 && (at < leastDrawn || !isRandom(value[:at], 3))
	})
}

// lowered has small letters of ASCII for capital ones, each byte in its place: bytes.ToLower
// makes what is no UTF-8 longer, and some letters.
func lowered(value []byte) []byte {
	value = slices.Clone(value)
	for i, c := range value {
		if 'A' <= c && c <= 'Z' {
			value[i] = c + 'a' - 'A'
		}
	}
	return value
}

// leastDrawn is how much of a value has to be drawn by lot for an example's word in it to
// say nothing.
const leastDrawn = 24
