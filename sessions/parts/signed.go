package parts

import (
	"bytes"

	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

const keySignature = "thoughtSignature"

// Signed finds the parts of a line that carry the model's signature. One
// changed byte, and the API may refuse the conversation.
func Signed(b []byte) []jsonlines.Span {
	if !bytes.Contains(b, []byte(keySignature)) {
		return nil
	}
	return jsonlines.FindObjects(b, carriesSignature)
}

func carriesSignature(object []byte) bool {
	c := jsontext.Walk(object)
	for key, value := range c.Members() {
		if string(key) == keySignature && len(jsontext.Raw(value)) > 0 {
			return true
		}
	}
	return false
}
