package claude

import (
	"bytes"

	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// signedBlocks finds the blocks of a line that carry the model's signature over
// their content: thoughts, and whatever else is signed. One changed byte and
// the API refuses the conversation.
func signedBlocks(b []byte) []jsonlines.Span {
	if !holds(b, `thinking"`, `king"`) && !holds(b, `"signature"`, `gnature"`) {
		return nil
	}
	return jsonlines.FindObjects(b, carriesSignature)
}

// holds reports whether a word is in b. Its end, which is looked for first, begins
// with a letter that JSON rarely holds: a search that begins with a quote or a
// common letter stops at each.
func holds(b []byte, word, end string) bool {
	return bytes.Contains(b, []byte(end)) && bytes.Contains(b, []byte(word))
}

// carriesSignature reports whether an object is a thought, or anything with a type and a signature.
func carriesSignature(object []byte) bool {
	typed, signed := false, false
	c := jsontext.Walk(object)
	for key, value := range c.Members() {
		switch string(key) {
		case "type":
			kind := string(jsontext.Raw(value))
			if kind == "thinking" || kind == "redacted_thinking" {
				return true
			}
			typed = len(kind) > 0
		case "signature":
			signed = len(jsontext.Raw(value)) > 0
		}
	}
	return typed && signed
}
