package jsontext

import (
	"encoding/json"
	"errors"
)

var errNoObject = errors.New("no JSON object")

// Blank empties the strings, numbers and so on at the paths of keys that are
// picked: each such value becomes "". The elements of an array have its
// path. All else stays as it is. An error if b is
// no JSON object.
func Blank(b []byte, picked func(path []string) bool) ([]byte, error) {
	if start := SkipSpace(b, 0); !json.Valid(b) || start >= len(b) || b[start] != '{' {
		return nil, errNoObject
	}
	out, done := []byte(nil), 0
	var visit func(at int, path []string)
	visit = func(at int, path []string) {
		c := WalkAt(b, at)
		object := b[SkipSpace(b, at)] == '{'
		for {
			var key, value []byte
			var ok bool
			if object {
				key, value, ok = c.Member()
			} else {
				value, ok = c.Element()
			}
			if !ok {
				return
			}
			inner := path
			if object {
				inner = append(path[:len(path):len(path)], string(key))
			}
			start := c.Pos() - len(value)
			switch {
			case len(inner) > 0 && picked(inner):
				out = append(append(out, b[done:start]...), `""`...)
				done = c.Pos()
			case value[0] == '{' || value[0] == '[':
				visit(start, inner)
			}
		}
	}
	visit(0, nil)
	return append(out, b[done:]...), nil
}

// SetMember is an object with another value of one member; nil takes it out. An
// error if object is none.
func SetMember(object []byte, key string, value []byte) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil || members == nil {
		return nil, errNoObject
	}
	delete(members, key)
	if value != nil {
		members[key] = value
	}
	return json.MarshalIndent(members, "", "  ")
}
