package claude

import (
	"bytes"

	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const maxDepth = 256 // of nested values that are looked into

// signedBlocks finds the blocks of a line that carry the model's signature over
// their content: thoughts, and whatever else is signed. One changed byte and
// the API refuses the conversation.
func signedBlocks(b []byte) []jsonlines.Span {
	if !holds(b, `thinking"`, `king"`) && !holds(b, `"signature"`, `gnature"`) {
		return nil
	}
	return findSigned(nil, b, 0, len(b), 0)
}

// holds reports whether a word is in b. Its end, which is looked for first, begins
// with a letter that JSON rarely holds: a search that begins with a quote or a
// common letter stops at each.
func holds(b []byte, word, end string) bool {
	return bytes.Contains(b, []byte(end)) && bytes.Contains(b, []byte(word))
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
	typed, signed, thought := false, false, false
	var inner []jsonlines.Span
	for key, value := range c.Members() {
		switch string(key) {
		case "type":
			kind := string(jsontext.Raw(value))
			typed, thought = len(kind) > 0, kind == "thinking" || kind == "redacted_thinking"
		case "signature":
			signed = len(jsontext.Raw(value)) > 0
		}
		inner = findSigned(inner, b, c.Pos()-len(value), c.Pos(), depth+1)
	}
	if thought || typed && signed {
		return append(found, jsonlines.Span{Start: start, End: end})
	}
	return append(found, inner...)
}
