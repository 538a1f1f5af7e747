package jsonlines

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// pathMatcher finds one absolute path inside JSON text, or plain text, without
// decoding it, and says what to write in its place. It knows the forms in which
// a path stands in a JSON string: non-ASCII characters plain or as \uXXXX, a
// slash as "/" or "\/", both of these once more inside a string that itself holds
// JSON, and a space as a shell command escapes it. It finds whole paths only: /a/b does not match in /a/bc, x/a/b or
// /x/a/b, but in -I/a/b and in what a diff says of it.
type pathMatcher struct {
	elems  []elem
	anchor Finder // of a run of elems that has one form only
	at     int    // index of the anchor's first elem
	span   int    // elems in the anchor
	to     []rune
	plain  bool // plain text: write no JSON escapes

	home     bool     // elems follow what stands for the user's home, as ~ does
	keepHome bool     // so does to, and what stands for it stays
	names    []string // what may follow below the path; none: anything
}

// elem is one character of the path and the forms it may have, longest first.
type elem struct {
	r     rune
	forms []string
}

// style is how a match was written, so that its replacement is written alike.
type style struct {
	slashes int // backslashes before an inner slash
	unicode int // backslashes before the u of an escaped character
	shell   int // backslashes before a space and the like
}

// newPathMatcher returns nil if there is nothing to replace.
func newPathMatcher(from, to string, plain bool) *pathMatcher {
	if from == "" || from == "/" || from == to {
		return nil
	}
	m := &pathMatcher{to: []rune(to), plain: plain}
	for _, r := range from { // an invalid byte is U+FFFD, as in the transcript
		m.elems = append(m.elems, elem{r, forms(r)})
	}
	m.pickAnchor()
	return m
}

// pickAnchor takes the longest run of characters that nobody escapes; without
// one, the leading slash, which every form has.
func (m *pathMatcher) pickAnchor() {
	begin := 0
	for i := 0; i <= len(m.elems); i++ {
		if i < len(m.elems) && len(m.elems[i].forms) == 1 && m.elems[i].r != '/' {
			continue
		}
		if i-begin >= m.span && i > begin {
			m.at, m.span = begin, i-begin
		}
		begin = i + 1
	}
	if m.span == 0 {
		m.at, m.span = 0, 1
	}
	var word []byte
	for _, e := range m.elems[m.at : m.at+m.span] {
		word = append(word, byte(e.r))
	}
	m.anchor = NewFinder(word)
}

// shellChars are the characters that a shell command has a backslash before.
const shellChars = " ()&;'$!*?[]{}|<>#`"

// slashForms are the forms of a slash.
var slashForms = []string{`\\/`, `\/`, `/`}

func forms(r rune) []string {
	switch {
	case r == '/':
		return slashForms
	case r == '"' || r == '\\':
		return []string{jsontext.EscapeRune(r), `\` + string(r), string(r)}
	case r < 0x20 || r == 0x7f:
		fs := []string{jsontext.EscapeRune(r), string(r)}
		if i := bytes.IndexByte([]byte("\b\f\n\r\t"), byte(r)); i >= 0 {
			fs = append(fs, `\`+"bfnrt"[i:i+1])
		}
		return fs
	case strings.ContainsRune(shellChars, r):
		return []string{`\\` + string(r), `\` + string(r), string(r)}
	case r < utf8.RuneSelf:
		return []string{string(r)}
	}
	return []string{`\` + unicodeForm2(r), jsontext.EscapeRune(r), string(r)}
}

// unicodeForm2 lacks only the first of the doubled backslashes.
func unicodeForm2(r rune) string {
	if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\\u%04x`, hi, lo)
	}
	return jsontext.EscapeRune(r)
}

// match is one place where the path stands: from its first slash to its end.
type match struct {
	start, end int
	style      style
}

// next finds the first match that starts at or after from.
func (m *pathMatcher) next(b []byte, from int) (match, bool) {
	for i := m.anchor.Next(b, from); i >= 0; i = m.anchor.Next(b, i+1) {
		if found, ok := m.verify(b, i); ok && found.start >= from {
			return found, true
		}
	}
	return match{}, false
}

// verify checks the path around an anchor that stands at b[i].
func (m *pathMatcher) verify(b []byte, i int) (match, bool) {
	var st style
	start := i
	for k := m.at - 1; k >= 1; k-- {
		n := m.elems[k].before(b, start, &st)
		if n == 0 {
			return match{}, false
		}
		start -= n
	}
	if m.at > 0 {
		if start == 0 || b[start-1] != '/' {
			return match{}, false
		}
		start--
	}
	end := i + m.span
	for k := m.at + m.span; k < len(m.elems); k++ {
		n := m.elems[k].after(b, end, &st)
		if n == 0 {
			return match{}, false
		}
		end += n
	}
	if !endsPath(b, end) || !m.isBelow(b, end) {
		return match{}, false
	}
	if m.home {
		begin, ok := homeBefore(b, start)
		if m.keepHome {
			begin = start
		}
		return match{begin, end, st}, ok
	}
	if !startsPath(b, start) && !joined(b, start) || isElsewhere(b, start) {
		return match{}, false
	}
	return match{start, end, st}, true
}

// before returns the length of the form of e that ends at b[i], or 0.
func (e elem) before(b []byte, i int, st *style) int {
	for _, f := range e.forms {
		if len(f) <= i && equalForm(b[i-len(f):i], f) {
			e.note(f, st)
			return len(f)
		}
	}
	return 0
}

// after returns the length of the form of e that starts at b[i], or 0.
func (e elem) after(b []byte, i int, st *style) int {
	for _, f := range e.forms {
		if i+len(f) <= len(b) && equalForm(b[i:i+len(f)], f) {
			e.note(f, st)
			return len(f)
		}
	}
	return 0
}

func (e elem) note(form string, st *style) {
	switch {
	case e.r == '/':
		st.slashes = len(form) - 1
	case strings.ContainsRune(shellChars, e.r):
		st.shell = len(form) - 1
	case e.r >= utf8.RuneSelf && form[0] == '\\':
		st.unicode = 1
		if form[1] == '\\' {
			st.unicode = 2
		}
	}
}

// equalForm compares bytes, and hexadecimal digits whatever their case.
func equalForm(b []byte, form string) bool {
	if len(form) > 2 && form[0] == '\\' {
		return bytes.EqualFold(b, []byte(form)) && bytes.IndexByte(b, 'U') < 0
	}
	return string(b) == form
}

// write appends the new path in the style of the one it replaces.
func (m *pathMatcher) write(dst []byte, st style) []byte {
	for i, r := range m.to {
		switch {
		case r == '/' && i > 0:
			for range st.slashes {
				dst = append(dst, '\\')
			}
			dst = append(dst, '/')
		case st.shell > 0 && strings.ContainsRune(shellChars, r):
			for range st.shell {
				dst = append(dst, '\\')
			}
			dst = append(dst, byte(r))
		case r >= utf8.RuneSelf && st.unicode == 2:
			dst = append(append(dst, '\\'), unicodeForm2(r)...)
		case r >= utf8.RuneSelf && st.unicode == 1:
			dst = append(dst, jsontext.EscapeRune(r)...)
		case m.plain:
			dst = utf8.AppendRune(dst, r)
		default:
			dst = jsontext.AppendEscaped(dst, r)
		}
	}
	return dst
}
