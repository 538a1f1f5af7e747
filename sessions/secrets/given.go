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

// isExample reports a value that says of itself that it is none.
func isExample(value []byte) bool {
	lower := bytes.ToLower(value[:min(len(value), mostJudged)])
	return slices.ContainsFunc([]string{"your", "example", "xxxx", "placeholder", "changeme", "${", "{{", "://"}, func(word string) bool {
		return bytes.Contains(lower, []byte(word))
	})
}
