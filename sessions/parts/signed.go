package parts

import (
	"bytes"

	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const maxDepth = 256 // of nested values that are looked into

const keySignature = "thoughtSignature"

// Signed finds the parts of a line that carry the model's signature. One
// changed byte, and the API may refuse the conversation.
func Signed(b []byte) []jsonlines.Span {
	if !bytes.Contains(b, []byte(keySignature)) {
		return nil
	}
	return findSigned(nil, b, 0, len(b), 0)
}

// findSigned looks into the value b[start:end].
func findSigned(found []jsonlines.Span, b []byte, start, end, depth int) []jsonlines.Span {
	start = jsontext.SkipSpace(b[:end], start)
	if start >= end || b[start] != '{' && b[start] != '[' {
		return found
	}
	if depth == maxDepth {
		return append(found, jsonlines.Span{Start: start, End: end})
	}
	c := jsontext.WalkAt(b[:end], start)
	if b[start] == '[' {
		for value := range c.Elements() {
			found = findSigned(found, b, c.Pos()-len(value), c.Pos(), depth+1)
		}
		return found
	}
	before := len(found)
	for key, value := range c.Members() {
		if string(key) == keySignature && len(jsontext.Raw(value)) > 0 {
			return append(found[:before], jsonlines.Span{Start: start, End: end})
		}
		found = findSigned(found, b, c.Pos()-len(value), c.Pos(), depth+1)
	}
	return found
}
