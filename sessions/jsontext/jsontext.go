// Package jsontext reads and edits JSON where it stands: values are skipped, not
// decoded, so that conversations are read and rewritten at the speed of the disk
// and what is not meant to change stays the byte it was. The walk is lenient
// about what stands inside a skipped value (it counts brackets, it does not match
// them) and strict about the object or array it is asked to walk. It knows no
// agent.
package jsontext

import (
	"bytes"
	"encoding/json"
	"iter"
	"time"
)

// SkipSpace returns the index of the next byte of b at or after i that is not
// JSON white space.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that starts at b[i], which is
// its opening quote; -1 if it does not end.
func skipString(b []byte, i int) int {
	i++
	for {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		if Backslashes(b, i)&1 == 0 {
			return i + 1
		}
		i++
	}
}

// Backslashes counts those that end just before b[i].
func Backslashes(b []byte, i int) int {
	n := 0
	for i-n > 0 && b[i-n-1] == '\\' {
		n++
	}
	return n
}

// SkipValue returns the index after the value that starts at b[i]; -1 if there
// is none or it does not end.
func SkipValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	case '}', ']', ',', ':':
		return -1
	}
	for i < len(b) && !delimiter[b[i]] {
		i++
	}
	return i
}

func skipNested(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		if !structural[b[i]] {
			i++
			continue
		}
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

var structural = [256]bool{'"': true, '{': true, '[': true, '}': true, ']': true}

var delimiter = [256]bool{',': true, '}': true, ']': true, ':': true, '"': true, '{': true, '[': true,
	' ': true, '\t': true, '\n': true, '\r': true}

// Cursor walks the members of one object or the elements of one array.
type Cursor struct {
	b     []byte
	i     int
	begun bool
	bad   bool
}

// Walk starts at the first value of b, an object or array.
func Walk(b []byte) Cursor { return WalkAt(b, 0) }

// WalkAt starts at the value of b that begins at or after i.
func WalkAt(b []byte, i int) Cursor { return Cursor{b: b, i: SkipSpace(b, i)} }

// Pos is the index in b after the item that was returned last.
func (c *Cursor) Pos() int { return c.i }

// open reads the opening bracket, or the comma before the next item, and
// reports whether an item follows.
func (c *Cursor) open(left, right byte) bool {
	if c.bad {
		return false
	}
	c.i = SkipSpace(c.b, c.i)
	if c.i >= len(c.b) {
		c.bad = true
		return false
	}
	switch {
	case !c.begun && c.b[c.i] == left:
		c.begun = true
		c.i = SkipSpace(c.b, c.i+1)
		if c.i < len(c.b) && c.b[c.i] == right {
			c.i++
			return false
		}
		return true
	case c.begun && c.b[c.i] == ',':
		c.i = SkipSpace(c.b, c.i+1)
		return true
	case c.begun && c.b[c.i] == right:
		c.i++
		return false
	}
	c.bad = true
	return false
}

// Member returns the next key, without its quotes and with its escapes, and
// value of an object; ok is false at its end and where it is malformed.
func (c *Cursor) Member() (key, value []byte, ok bool) {
	if !c.open('{', '}') {
		return nil, nil, false
	}
	if c.i >= len(c.b) || c.b[c.i] != '"' {
		c.bad = true
		return nil, nil, false
	}
	end := skipString(c.b, c.i)
	if end < 0 {
		c.bad = true
		return nil, nil, false
	}
	key = c.b[c.i+1 : end-1]
	c.i = SkipSpace(c.b, end)
	if c.i >= len(c.b) || c.b[c.i] != ':' {
		c.bad = true
		return nil, nil, false
	}
	c.i = SkipSpace(c.b, c.i+1)
	value, ok = c.value()
	return key, value, ok
}

// Element returns the next value of an array.
func (c *Cursor) Element() (value []byte, ok bool) {
	if !c.open('[', ']') {
		return nil, false
	}
	return c.value()
}

// Members are what Member returns until the object's end, or until it is malformed.
func (c *Cursor) Members() iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for {
			if key, value, ok := c.Member(); !ok || !yield(key, value) {
				return
			}
		}
	}
}

// Elements are what Element returns until the array's end, or until it is malformed.
func (c *Cursor) Elements() iter.Seq[[]byte] {
	return func(yield func(value []byte) bool) {
		for {
			if value, ok := c.Element(); !ok || !yield(value) {
				return
			}
		}
	}
}

func (c *Cursor) value() ([]byte, bool) {
	end := SkipValue(c.b, c.i)
	if end < 0 {
		c.bad = true
		return nil, false
	}
	value := c.b[c.i:end]
	c.i = end
	return value, true
}

// Whole reports whether the walk ended with its value and nothing follows it.
func (c *Cursor) Whole() bool {
	return !c.bad && c.begun && SkipSpace(c.b, c.i) == len(c.b)
}

// Text decodes a JSON string; "" for any other value.
func Text(value []byte) string {
	if len(value) < 2 || value[0] != '"' {
		return ""
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(bytes.ToValidUTF8(inner, []byte("\ufffd")))
	}
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

// Raw is the inside of a JSON string, escapes and all; nil for another value.
func Raw(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

// Time is a time as RFC 3339 writes it, of a string's raw text; the zero time if it
// is none.
func Time(raw []byte) time.Time {
	t, err := time.Parse(time.RFC3339Nano, string(raw))
	if err != nil {
		return time.Time{}
	}
	return t
}

// IsTrue reports whether a value is true.
func IsTrue(value []byte) bool { return string(value) == "true" }

// Lookup is the value of one member of an object; nil if there is none.
func Lookup(object []byte, key string) []byte {
	c := Walk(object)
	for k, v := range c.Members() {
		if string(k) == key {
			return v
		}
	}
	return nil
}

// First is the first of an object's members of these names, in the order of the
// names, that is a string and not empty.
func First(object []byte, names ...string) string {
	found := make([][]byte, len(names))
	c := Walk(object)
	for key, value := range c.Members() {
		for i, name := range names {
			if string(key) == name {
				found[i] = value
			}
		}
	}
	for _, value := range found {
		if s := Text(value); s != "" {
			return s
		}
	}
	return ""
}

// Description is what a model says that a call does, of a call that runs a command or a
// subagent: in the inputs of other tools the word may mean anything.
func Description(input []byte) string {
	if First(input, "command", "prompt") == "" {
		return ""
	}
	return First(input, "description")
}

// ValueAt is where a member of the object at b[at] has its value; the end of b if
// there is none.
func ValueAt(b []byte, at int, name string) int {
	c := WalkAt(b, at)
	for key, value := range c.Members() {
		if string(key) == name {
			return c.Pos() - len(value)
		}
	}
	return len(b)
}
