package sessions

import (
	"encoding/json"
	"strings"
)

// BriefRefusal is, for people, what an agent says of its API's refusal: where that has
// the API's own answer in it, the message of that instead of its JSON.
func BriefRefusal(s string) string {
	s = strings.TrimSpace(s)
	if inner, ok := strings.CutPrefix(s, "["); ok {
		s = strings.TrimSuffix(inner, "]")
	}
	if at := strings.IndexByte(s, '{'); at >= 0 {
		var answer struct {
			Message string
			Error   struct{ Message string }
		}
		if json.NewDecoder(strings.NewReader(s[at:])).Decode(&answer) == nil {
			if message := answer.Error.Message + answer.Message; message != "" {
				s = s[:at] + message
			}
		}
	}
	return Brief(strings.Map(printable, StripEscapes(s)))
}

// printable takes what moves a terminal's cursor, or colours, out of a text.
func printable(r rune) rune {
	if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 {
		return -1
	}
	return r
}
