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
	"slices"
	"strings"
)

// Rule is one pattern of an ignore file.
type Rule struct {
	Source  string // the label that Parse was given, by convention the file's path
	Line    int    // 1-based
	Text    string // the pattern as written, without trailing blanks and line end
	Negated bool   // "!": the rule un-ignores
}

// List is the parsed content of one ignore file. It is immutable and safe for
// concurrent use; the same List may be used by any number of matchers.
//
// An ignore file may have millions of lines, so that each byte of a rule counts: what a
// rule says is read from the file's text whenever it is asked for.
type List struct {
	source  string
	content string
	rules   []rule
	wilds   []packedWild // of the rules with special characters
	tokens  []token      // of all wilds
	sets    []byteSet    // of all wilds
	lean    bool         // tokens and sets are not kept

	// The most frequent rules are found by lookup instead of by a scan: plain
	// names, "*.extension", and paths by how many slashes they hold, which is
	// how deep below the list's directory they can match. All are positions in
	// rules: those of names and extensions sorted by what they are looked up by, and
	// then as in the file; rest holds all others.
	names      []int32
	extensions []int32
	paths      map[int32][]int32
	rest       []int32

	negatedPaths []int32 // the negated rules that hold a slash
}

// rule is one pattern, at its place in the list's content.
type rule struct {
	at, width uint32
	slashes   int32 // that a match must hold: exactly, or at least if deep
	wild      int32 // position in wilds, of globTokens
	kind      globKind
	negated   bool
	dirOnly   bool
	path      bool // holds a slash: matched against the path below the list's directory
	deep      bool // holds a "**" that crosses directories
}

// maxContent is how much of a file is read as rules: a rule's place is 32 bits wide. Git
// reads no file of more than 100 MiB.
const maxContent = 1<<31 - 1

// Parse reads an ignore file. An empty file gives nil, which is a valid list without rules.
//
// As in Git: a UTF-8 byte order mark at the start is skipped, a line ends at
// LF and loses one CR before it, "#" begins a comment in the first column
// only, trailing blanks go unless escaped, and a NUL ends the pattern.
func Parse[T ~string | ~[]byte](source string, data T) *List {
	content := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
	content = content[:min(len(content), maxContent)]
	return parse(source, content, len(content) > leanAbove)
}

// leanAbove is the size over which a list takes room before time: its patterns are compiled
// when a name may match them, and of lines that stand there again and again the last alone
// is kept, which is what decides.
const leanAbove = 1 << 20

// mostRepeated is how many texts are known by which repeated lines are found.
const mostRepeated = 1 << 17

func parse(source, content string, lean bool) *List {
	l := &List{source: source, content: content, lean: lean}
	var last map[string]int
	if lean {
		last = map[string]int{}
	}
	lines := 0
	l.eachText(func(at int, text string) {
		_, known := last[text]
		if !known {
			lines++
		}
		if known || lean && len(last) < mostRepeated {
			last[text] = at
		}
	})
	l.rules = make([]rule, 0, lines)
	l.eachText(func(at int, text string) {
		if again, known := last[text]; !known || again == at {
			l.add(rule{at: uint32(at), width: uint32(len(text))})
		}
	})
	if lean {
		l.tokens, l.sets = nil, nil
	}
	if len(l.rules) == 0 {
		return nil
	}
	l.rules, l.wilds, l.tokens, l.sets = fitted(l.rules), fitted(l.wilds), fitted(l.tokens), fitted(l.sets)
	l.sort()
	return l
}

// eachText calls fn for the text of each line that may be a rule, and where it begins.
func (l *List) eachText(fn func(at int, text string)) {
	for at := 0; at < len(l.content); {
		line, _, _ := strings.Cut(l.content[at:], "\n")
		text, _, _ := strings.Cut(strings.TrimSuffix(line, "\r"), "\x00")
		if len(text) > 0 && text[0] != '#' {
			fn(at, trimBlanks(text))
		}
		at += len(line) + 1
	}
}

// fitted gives back the room that a slice has left, if it is worth it.
func fitted[E any](s []E) []E {
	if cap(s)-len(s) <= len(s)/8 {
		return s
	}
	return append(make([]E, 0, len(s)), s...)
}

// add adds a rule of which the place is known, unless it can match nothing.
func (l *List) add(r rule) {
	text := l.text(&r)
	r.negated = strings.HasPrefix(text, "!")
	text = strings.TrimPrefix(text, "!")
	r.dirOnly = strings.HasSuffix(text, "/")
	text = strings.TrimSuffix(text, "/")
	r.path = strings.Contains(text, "/")
	if pattern := l.pattern(&r); pattern != "" && l.compile(&r, pattern) {
		l.rules = append(l.rules, r)
	}
}

// sort puts each rule where it is looked for.
func (l *List) sort() {
	l.paths = map[int32][]int32{}
	for n := range l.rules {
		r, n := &l.rules[n], int32(n)
		switch {
		case r.isName():
			l.names = append(l.names, n)
		case l.isExtension(r):
			l.extensions = append(l.extensions, n)
		case r.path && !r.deep:
			l.paths[r.slashes] = append(l.paths[r.slashes], n)
		default:
			l.rest = append(l.rest, n)
		}
		if r.path && r.negated {
			l.negatedPaths = append(l.negatedPaths, n)
		}
	}
	byLiteral := func(a, b int32) int {
		if order := strings.Compare(l.literal(&l.rules[a]), l.literal(&l.rules[b])); order != 0 {
			return order
		}
		return int(a - b)
	}
	slices.SortFunc(l.names, byLiteral)
	slices.SortFunc(l.extensions, byLiteral)
	l.names, l.extensions, l.rest, l.negatedPaths = fitted(l.names), fitted(l.extensions), fitted(l.rest), fitted(l.negatedPaths)
	for slashes, list := range l.paths {
		l.paths[slashes] = fitted(list)
	}
}

func (r *rule) isName() bool { return !r.path && r.kind == globLiteral }

func (l *List) isExtension(r *rule) bool {
	literal := l.literal(r)
	return !r.path && r.kind == globSuffix && literal != "" && extension(literal) == literal
}

// text is the rule as written, without trailing blanks and line end.
func (l *List) text(r *rule) string { return l.content[r.at : r.at+r.width] }

// pattern is what of a rule's text names are compared with.
func (l *List) pattern(r *rule) string {
	from, to := r.at, r.at+r.width
	if r.negated {
		from++
	}
	if r.dirOnly {
		to--
	}
	if r.path && l.content[from] == '/' {
		from++
	}
	return l.content[from:to]
}

// literal is the part without special characters of a pattern of globLiteral or globSuffix.
func (l *List) literal(r *rule) string {
	pattern := l.pattern(r)
	if r.kind == globSuffix {
		return pattern[1:]
	}
	return pattern
}

// rule describes the rule at a position.
func (l *List) rule(n int) *Rule {
	r := &l.rules[n]
	return &Rule{Source: l.source, Line: strings.Count(l.content[:r.at], "\n") + 1, Text: l.text(r), Negated: r.negated}
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
