package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Fields are the members of a hook's payload, as they were written; of several of
// one name the last counts. One that is of another type than it should be counts
// as missing: no odd field costs its event.
type Fields map[string][]byte

// Read reads a payload. ErrBadPayload if it is no JSON object.
func Read(payload []byte) (Fields, error) {
	payload = bytes.TrimSpace(payload)
	if len(payload) == 0 {
		return nil, fmt.Errorf("%w: empty input", sessions.ErrBadPayload)
	}
	if payload[0] != '{' || !json.Valid(payload) {
		return nil, fmt.Errorf("%w: no JSON object", sessions.ErrBadPayload)
	}
	f := Fields{}
	c := jsontext.Walk(payload)
	for key, value := range c.Members() {
		f[jsontext.Text(append(append([]byte{'"'}, key...), '"'))] = value
	}
	return f, nil
}

// Text is a string; "" if there is none of that name.
func (f Fields) Text(name string) string { return jsontext.Text(f[name]) }

// Is reports whether a member is true.
func (f Fields) Is(name string) bool { return jsontext.IsTrue(f[name]) }

// Count is a whole number from 0 on; 0 for anything else.
func (f Fields) Count(name string) int64 {
	n, err := strconv.ParseInt(string(f[name]), 10, 64)
	if err != nil {
		return 0
	}
	return max(0, n)
}

// Within are the members of an object in it; none if it is no object.
func (f Fields) Within(name string) Fields {
	inner, err := Read(f[name])
	if err != nil {
		return nil
	}
	return inner
}

// CheckPaths refuses an event that names a place otherwise than absolutely.
func CheckPaths(e sessions.Event) error {
	for _, path := range []string{e.Transcript, e.Cwd} {
		if path != "" && !filepath.IsAbs(path) {
			return fmt.Errorf("%w: the path %.80q is not absolute", sessions.ErrBadPayload, path)
		}
	}
	return nil
}

// Question is the first one that a tool asks its user, in the input that several agents'
// tools for that have; "" if there is none.
func Question(input []byte) string {
	list := jsontext.Walk(jsontext.Lookup(input, "questions"))
	first, _ := list.Element()
	return jsontext.Text(jsontext.Lookup(first, "question"))
}
