package capture

import (
	"encoding/base64"
	"encoding/json"
	"unicode/utf8"
)

// text is a byte string in a JSON document: a JSON string if it is UTF-8,
// which nearly all are, else {"base64": "…"}, so that no byte is lost.
type text string

// Text is how a document of a record holds a path; other documents that hold
// paths do it the same way.
type Text = text

type encodedText struct {
	Base64 string `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(encodedText{Base64: base64.StdEncoding.EncodeToString([]byte(t))})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if len(data) == 0 || data[0] != '{' {
		err := json.Unmarshal(data, &s)
		*t = text(s)
		return err
	}
	var e encodedText
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	raw, err := base64.StdEncoding.DecodeString(e.Base64)
	*t = text(raw)
	return err
}

func texts(list []string) []text {
	out := make([]text, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}

func plain(list []text) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = string(t)
	}
	return out
}
