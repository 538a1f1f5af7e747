package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// node is a JSON value with its place in the text, so that the text can be
// edited without writing the rest of it anew.
type node struct {
	start, end int
	items      []item // of an object or array
}

// item is a member of an object or an element of an array.
type item struct {
	key   string
	start int // of the key, or of the value
	value node
}

var errNotJSON = errors.New("not plain JSON (comments and trailing commas can't be kept)")

const maxDepth = 100

// parseTree parses plain JSON.
func parseTree(b []byte) (node, error) {
	if !json.Valid(b) {
		return node{}, errNotJSON
	}
	return treeAt(b, 0, len(b), 0)
}

func treeAt(b []byte, start, end, depth int) (node, error) {
	start = jsontext.SkipSpace(b, start)
	n := node{start: start, end: end}
	if end = jsontext.SkipValue(b, start); end > 0 {
		n.end = end
	}
	if b[start] != '{' && b[start] != '[' {
		return n, nil
	}
	if depth == maxDepth {
		return n, errors.New("nested too deeply")
	}
	c := jsontext.WalkAt(b[:n.end], start)
	for {
		var it item
		var value []byte
		var ok bool
		if b[start] == '{' {
			var key []byte
			if key, value, ok = c.Member(); ok {
				it.start = bytes.LastIndex(b[:c.Pos()-len(value)], append(append([]byte{'"'}, key...), '"'))
				it.key = jsontext.Text(b[it.start : it.start+len(key)+2])
			}
		} else if value, ok = c.Element(); ok {
			it.start = c.Pos() - len(value)
		}
		if !ok {
			return n, nil
		}
		var err error
		if it.value, err = treeAt(b, c.Pos()-len(value), c.Pos(), depth+1); err != nil {
			return n, err
		}
		n.items = append(n.items, it)
	}
}

// get is an object's member; of several with that key the last counts.
func (n node) get(key string) (node, bool) {
	for i := len(n.items) - 1; i >= 0; i-- {
		if n.items[i].key == key {
			return n.items[i].value, true
		}
	}
	return node{}, false
}

func (n node) is(b []byte, bracket byte) bool { return b[n.start] == bracket }

func (n node) string(b []byte) string { return jsontext.Text(b[n.start:n.end]) }

// layout is how a settings file is written.
type layout struct {
	newline string
	unit    string // of indentation
}

// layoutOf reads the layout off the first member. Without evidence the unit is
// a tab, which no file that Umbra or an agent begins has.
func layoutOf(b []byte, root node) layout {
	l := layout{newline: "\n", unit: "\t"}
	if bytes.Contains(b, []byte("\r\n")) {
		l.newline = "\r\n"
	}
	if len(root.items) > 0 {
		if unit, ok := indentBefore(b, root.items[0].start); ok && unit != "" {
			l.unit = unit
		}
	}
	return l
}

// indentBefore is the white space between the last line end and b[i]; false if
// anything else stands between.
func indentBefore(b []byte, i int) (string, bool) {
	line := bytes.LastIndexByte(b[:i], '\n')
	indent := string(b[line+1 : i])
	return indent, line >= 0 && strings.Trim(indent, " \t") == ""
}

// insertLast adds an item to a container as its last one. Taken out again by
// removeItem, it leaves the bytes as they were.
func insertLast(b []byte, n node, l layout, render func(indent string, l layout) string) []byte {
	if len(n.items) > 0 {
		last := n.items[len(n.items)-1]
		indent, broken := indentBefore(b, n.items[0].start)
		if !broken { // on one line, and so is what is added
			return splice(b, last.value.end, last.value.end, ","+render("", layout{}))
		}
		return splice(b, last.value.end, last.value.end, ","+l.newline+indent+render(indent, l))
	}
	indent := lineIndent(b, n.start) + l.unit
	return splice(b, n.start+1, n.start+1, l.newline+indent+render(indent, l))
}

// lineIndent is the indentation of the line that b[i] is on.
func lineIndent(b []byte, i int) string {
	line := b[bytes.LastIndexByte(b[:i], '\n')+1 : i]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// removeItem takes the i-th item out of a container.
func removeItem(b []byte, n node, i int) []byte {
	at := n.items[i]
	switch {
	case i > 0:
		return splice(b, n.items[i-1].value.end, at.value.end, "")
	case len(n.items) > 1:
		return splice(b, at.start, n.items[1].start, "")
	}
	return splice(b, n.start+1, at.value.end, "")
}

func splice(b []byte, start, end int, with string) []byte {
	out := make([]byte, 0, len(b)+len(with))
	out = append(out, b[:start]...)
	out = append(out, with...)
	return append(out, b[end:]...)
}
