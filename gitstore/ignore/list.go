// Package ignore decides which paths of a workspace are ignored, by Git's
// rules (gitignore(5), as `git check-ignore` of Git 2.38 and newer applies
// them) and by .umbraignore files, which are read last and may un-ignore.
//
// It works on bytes that it is given: it must not read files, walk
// directories or know of Git's index; a path that is tracked although ignored
// is its caller's business. It knows one deliberate difference: in a pattern
// such as "a/b**/c" Git 2.39, like all until late 2025, takes "**" after a literal for one that
// crosses directories; gitignore(5) says it is two ordinary asterisks, and so
// it is here.
package ignore

import (
	"bytes"
	"strings"
)

// Rule is one pattern of an ignore file.
type Rule struct {
	Source  string // the label that Parse was given, by convention the file's path
	Line    int    // 1-based
	Text    string // the pattern as written, without trailing blanks and line end
	Negated bool   // "!": the rule un-ignores

	dirOnly bool
	glob    glob
	path    bool // holds a slash: matched against the path below the list's directory
}

// List is the parsed content of one ignore file. It is immutable and safe for
// concurrent use; the same List may be used by any number of matchers.
type List struct {
	rules []Rule

	// The most frequent rules are found by lookup instead of by a scan: plain
	// names, "*.extension", and paths by how many slashes they hold, which is
	// how deep below the list's directory they can match. rest holds the
	// positions of all others. Of several rules with one name the last is found,
	// and from each the one before it.
	names      map[string]int32
	extensions map[string]int32
	before     []int32 // by position: -1 if there is none
	paths      map[int32][]int32
	rest       []int32

	negatedPaths []int32 // positions of the negated rules that hold a slash
}

// Parse reads an ignore file. The source is copied into each rule, for
// messages. An empty file gives nil, which is a valid list without rules.
//
// As in Git: a UTF-8 byte order mark at the start is skipped, a line ends at
// LF and loses one CR before it, "#" begins a comment in the first column
// only, trailing blanks go unless escaped, and a NUL ends the pattern.
func Parse(source string, data []byte) *List {
	content := string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) // which the rules are parts of
	l := &List{names: map[string]int32{}, extensions: map[string]int32{}, paths: map[int32][]int32{}}
	for line := 1; len(content) > 0; line++ {
		var text string
		text, content, _ = strings.Cut(content, "\n")
		text = strings.TrimSuffix(text, "\r")
		text, _, _ = strings.Cut(text, "\x00")
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		if r, ok := parseRule(trimBlanks(text)); ok {
			r.Source, r.Line = source, line
			l.add(r)
		}
	}
	if len(l.rules) == 0 {
		return nil
	}
	return l
}

// Rules lists the rules in the order of the file.
func (l *List) Rules() []Rule {
	if l == nil {
		return nil
	}
	return append([]Rule(nil), l.rules...)
}

func (l *List) add(r Rule) {
	n, before := int32(len(l.rules)), int32(-1)
	switch {
	case !r.path && r.glob.kind == globLiteral:
		before = replace(l.names, r.glob.literal, n)
	case !r.path && r.glob.kind == globSuffix && r.glob.literal != "" && extension(r.glob.literal) == r.glob.literal:
		before = replace(l.extensions, r.glob.literal, n)
	case r.path && !r.glob.deep:
		l.paths[r.glob.slashes] = append(l.paths[r.glob.slashes], n)
	default:
		l.rest = append(l.rest, n)
	}
	if r.path && r.Negated {
		l.negatedPaths = append(l.negatedPaths, n)
	}
	l.rules, l.before = append(l.rules, r), append(l.before, before)
}

// replace notes the position of a rule by its name, and gives the one before, -1 if
// there is none.
func replace(last map[string]int32, name string, n int32) int32 {
	before, ok := last[name]
	if last[name] = n; !ok {
		return -1
	}
	return before
}

// parseRule reports false for a line that can match nothing.
func parseRule(text string) (Rule, bool) {
	r := Rule{Text: text}
	pattern := text
	if strings.HasPrefix(pattern, "!") {
		r.Negated = true
		pattern = pattern[1:]
	}
	if strings.HasSuffix(pattern, "/") {
		r.dirOnly = true
		pattern = pattern[:len(pattern)-1]
	}
	r.path = strings.Contains(pattern, "/")
	if r.path {
		pattern = strings.TrimPrefix(pattern, "/")
	}
	if pattern == "" {
		return Rule{}, false
	}
	g, ok := compile(pattern, r.path)
	r.glob = g
	return r, ok
}

// trimBlanks removes trailing spaces (not tabs, as Git) that no backslash
// escapes.
func trimBlanks(text string) string {
	end := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = min(i+1, len(text))
	}
	return text[:end]
}

// extension is the part of a name from its last dot, "" without one.
func extension(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[i:]
	}
	return ""
}
