package capture

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// documentVersion is the version of rules.json, skipped.json and modes.json. A
// reader refuses a newer one: guessing what it means could delete files.
const documentVersion = 1

// DocumentError is returned for a document of a record that does not parse.
type DocumentError struct {
	Document string // its name in the record, such as "rules.json"
	Err      error
}

func (e *DocumentError) Error() string { return fmt.Sprintf("%s of a record: %v", e.Document, e.Err) }

// Unwrap gives the cause.
func (e *DocumentError) Unwrap() error { return e.Err }

// encodeDocument is deterministic: the same value gives the same bytes, so that
// Git stores a document that did not change once. One value a line keeps diffs
// and deltas of long ones small.
func encodeDocument(value any) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	// Documents are made of strings, numbers and lists of them: nothing that
	// cannot be encoded.
	_ = encoder.Encode(value)
	return out.Bytes()
}

func decodeDocument(name string, data []byte, value any) error {
	var header struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(data, &header); err != nil {
		return &DocumentError{Document: name, Err: err}
	}
	if header.Version < 1 || header.Version > documentVersion {
		return &DocumentError{Document: name, Err: fmt.Errorf("version %d is not known", header.Version)}
	}
	if err := json.Unmarshal(data, value); err != nil {
		return &DocumentError{Document: name, Err: err}
	}
	return nil
}
