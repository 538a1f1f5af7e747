package jsonlines

import "github.com/umbra-vcs/umbra/sessions/jsontext"

const maxDepth = 256 // of nested values that are looked into

// FindObjects finds the outermost objects in a value that a test picks, and what is nested
// too deep to be looked into.
func FindObjects(b []byte, picks func(object []byte) bool) []Span {
	return findObjects(nil, b, 0, len(b), 0, picks)
}

// findObjects looks into the value b[start:end].
func findObjects(found []Span, b []byte, start, end, depth int, picks func([]byte) bool) []Span {
	start = jsontext.SkipSpace(b[:end], start)
	if start >= end || b[start] != '{' && b[start] != '[' {
		return found
	}
	if depth == maxDepth || b[start] == '{' && picks(b[start:end]) {
		return append(found, Span{Start: start, End: end})
	}
	c := jsontext.WalkAt(b[:end], start)
	if b[start] == '[' {
		for value := range c.Elements() {
			found = findObjects(found, b, c.Pos()-len(value), c.Pos(), depth+1, picks)
		}
		return found
	}
	for _, value := range c.Members() {
		found = findObjects(found, b, c.Pos()-len(value), c.Pos(), depth+1, picks)
	}
	return found
}
