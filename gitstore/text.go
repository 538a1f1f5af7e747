package gitstore

import (
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// Text is a byte string, such as a path, in a JSON document: a JSON string if it is UTF-8,
// which nearly all are, else {"base64": "…"}, so that no byte is lost.
type Text string

type encodedText struct {
	Base64 string `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(encodedText{Base64: base64.StdEncoding.EncodeToString([]byte(t))})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	var s string
	if len(data) == 0 || data[0] != '{' {
		err := json.Unmarshal(data, &s)
		*t = Text(s)
		return err
	}
	var e encodedText
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(e.Base64)
	*t = Text(raw)
	return err
}

// Texts are strings as a document holds them.
func Texts(list []string) []Text { return converted[Text](list) }

// Strings are what Texts was given.
func Strings(list []Text) []string { return converted[string](list) }

func converted[T, F ~string](list []F) []T {
	out := make([]T, len(list))
	for i, s := range list {
		out[i] = T(s)
	}
	return out
}
