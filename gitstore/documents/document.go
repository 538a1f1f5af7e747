package documents

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Version is the version of rules.json, skipped.json and modes.json. A
// reader refuses a newer one: guessing what it means could delete files.
const Version = 1

// Error is returned for a document of a record that does not parse.
type Error struct {
	Document string // its name in the record, such as "rules.json"
	Err      error
}

func (e *Error) Error() string { return fmt.Sprintf("%s of a record: %v", e.Document, e.Err) }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// encode is deterministic: the same value gives the same bytes, so that
// Git stores a document that did not change once. One value a line keeps diffs
// and deltas of long ones small.
func encode(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	// Documents are made of strings, numbers and lists of them: nothing that
	// cannot be encoded.
	_ = encoder.Encode(value)
	return out.Bytes()
}

func decode(name string, data []byte, value any) error {
	var header struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &header); err != nil {
		return &Error{Document: name, Err: err}
	}
	if header.Version < 1 || header.Version > Version {
		return &Error{Document: name, Err: fmt.Errorf("version %d is not known", header.Version)}
	}
	if err := json.Unmarshal(data, value); err != nil {
		return &Error{Document: name, Err: err}
	}
	return nil
}
