package claude

import (
	"bytes"
	"encoding/json"
)

// A transcript is read and rewritten at the speed of the disk, so lines are
// walked in place: values are skipped, not decoded. The walk is lenient about
// what stands inside a skipped value (it counts brackets, it does not match
// them) and strict about the object it is asked to walk.

// skipSpace returns the index of the next byte of b at or after i that is not
// JSON white space.
func skipSpace(b []byte, i int) int {
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
		if backslashes(b, i)&1 == 0 {
			return i + 1
		}
		i++
	}
}

// backslashes counts those that end just before b[i].
func backslashes(b []byte, i int) int {
	n := 0
	for i-n > 0 && b[i-n-1] == '\\' {
		n++
	}
	return n
}

// skipValue returns the index after the value that starts at b[i]; -1 if there
// is none or it does not end.
func skipValue(b []byte, i int) int {
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

// cursor walks the members of one object or the elements of one array.
type cursor struct {
	b     []byte
	i     int
	begun bool
	bad   bool
}

// walk starts at the value of b that begins at or after i.
func walk(b []byte) cursor { return cursor{b: b, i: skipSpace(b, 0)} }

// open reads the opening bracket, or the comma before the next item, and
// reports whether an item follows.
func (c *cursor) open(left, right byte) bool {
	if c.bad {
		return false
	}
	c.i = skipSpace(c.b, c.i)
	if c.i >= len(c.b) {
		c.bad = true
		return false
	}
	switch {
	case !c.begun && c.b[c.i] == left:
		c.begun = true
		c.i = skipSpace(c.b, c.i+1)
		if c.i < len(c.b) && c.b[c.i] == right {
			c.i++
			return false
		}
		return true
	case c.begun && c.b[c.i] == ',':
		c.i = skipSpace(c.b, c.i+1)
		return true
	case c.begun && c.b[c.i] == right:
		c.i++
		return false
	}
	c.bad = true
	return false
}

// member returns the next key, without its quotes and with its escapes, and
// value of an object; ok is false at its end and where it is malformed.
func (c *cursor) member() (key, value []byte, ok bool) {
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
	c.i = skipSpace(c.b, end)
	if c.i >= len(c.b) || c.b[c.i] != ':' {
		c.bad = true
		return nil, nil, false
	}
	c.i = skipSpace(c.b, c.i+1)
	value, ok = c.value()
	return key, value, ok
}

// element returns the next value of an array.
func (c *cursor) element() (value []byte, ok bool) {
	if !c.open('[', ']') {
		return nil, false
	}
	return c.value()
}

func (c *cursor) value() ([]byte, bool) {
	end := skipValue(c.b, c.i)
	if end < 0 {
		c.bad = true
		return nil, false
	}
	value := c.b[c.i:end]
	c.i = end
	return value, true
}

// whole reports whether the walk ended with its value and nothing follows it.
func (c *cursor) whole() bool {
	return !c.bad && c.begun && skipSpace(c.b, c.i) == len(c.b)
}

// text decodes a JSON string; "" for any other value.
func text(value []byte) string {
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

// raw is the inside of a JSON string, escapes and all; nil for another value.
func raw(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return nil
	}
	return value[1 : len(value)-1]
}

func isTrue(value []byte) bool { return string(value) == "true" }

// lookup is the value of one member of an object; nil if there is none.
func lookup(object []byte, key string) []byte {
	c := walk(object)
	for {
		k, v, ok := c.member()
		if !ok {
			return nil
		}
		if string(k) == key {
			return v
		}
	}
}
