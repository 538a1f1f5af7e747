package claude

import "bytes"

const maxDepth = 256 // of nested values that are looked into

// signedBlocks finds the blocks of a line that carry the model's signature over
// their content: thoughts, and whatever else is signed. One changed byte and
// the API refuses the conversation.
func signedBlocks(b []byte) []span {
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
func findSigned(found []span, b []byte, start, end, depth int) []span {
	start = skipSpace(b[:end], start)
	if start >= end || b[start] != '{' && b[start] != '[' {
		return found
	}
	if depth == maxDepth {
		return append(found, span{start, end})
	}
	c := cursor{b: b[:end], i: start}
	if b[start] == '[' {
		for {
			value, ok := c.element()
			if !ok {
				return found
			}
			found = findSigned(found, b, c.i-len(value), c.i, depth+1)
		}
	}
	typed, signed, thought := false, false, false
	var inner []span
	for {
		key, value, ok := c.member()
		if !ok {
			break
		}
		switch string(key) {
		case "type":
			kind := string(raw(value))
			typed, thought = len(kind) > 0, kind == "thinking" || kind == "redacted_thinking"
		case "signature":
			signed = len(raw(value)) > 0
		}
		inner = findSigned(inner, b, c.i-len(value), c.i, depth+1)
	}
	if thought || typed && signed {
		return append(found, span{start, end})
	}
	return append(found, inner...)
}
