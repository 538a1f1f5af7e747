package jsontext

import (
	"encoding/json"
	"errors"
)

var errNoObject = errors.New("no JSON object")

// Replace puts other JSON in the place of values: of each it asks with what is to
// stand there, nil for the value itself and, where that is an object or an array,
// what is in it. Path is that of the keys; the elements of an array have its own.
// All else stays as it is. An error if b is no JSON object.
func Replace(b []byte, with func(path []string, value []byte) []byte) ([]byte, error) {
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
			switch other := with(inner, value); {
			case other != nil:
				out = append(append(out, b[done:start]...), other...)
				done = c.Pos()
			case value[0] == '{' || value[0] == '[':
				visit(start, inner)
			}
		}
	}
	visit(0, nil)
	return append(out, b[done:]...), nil
}

// SetMember is an object with another value of one member; nil takes it out. It is
// written anew: indented, its members in the order of their names. An error if
// object is none.
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
