package jsonlines

import (
	"bytes"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Span is a stretch of a line's bytes.
type Span struct{ Start, End int }

type edit struct {
	Span
	with []byte
}

// Editor gathers the edits of one line after another and applies them. What
// stands in signed stretches is never edited by Paths. Not safe for concurrent
// use.
type Editor struct {
	to       sessions.Rewrite
	paths    []*pathMatcher
	signed   func(line []byte) []Span
	edits    []edit
	shielded []Span
	looked   bool   // for what is signed in this line
	cwd      []byte // of the newest line that had one, and what it became
	moved    []byte
}

// NewEditor returns the editor of a rewrite. plain says that the text is no
// JSON. signed finds the stretches of a line under the model's signature; it is asked
// only if there is something to edit.
func NewEditor(to sessions.Rewrite, plain bool, signed func(line []byte) []Span) *Editor {
	e := &Editor{to: to, signed: signed}
	for _, p := range [][2]string{{to.OldRoot, to.NewRoot}, {to.OldName, to.NewName}} {
		for _, m := range []*pathMatcher{newPathMatcher(p[0], p[1], plain), newHomeMatcher(p[0], p[1], to.Home, plain)} {
			if m == nil {
				continue
			}
			if p[0] == to.OldRoot {
				m.names = to.Names
			}
			e.paths = append(e.paths, m)
		}
	}
	return e
}

// RewritePaths is plain text with the paths of a rewrite.
func RewritePaths(text string, to sessions.Rewrite) string {
	e := NewEditor(to, true, func([]byte) []Span { return nil })
	e.Paths([]byte(text))
	return string(e.Apply(nil, []byte(text)))
}

// Begin forgets the edits of the line before.
func (e *Editor) Begin() { e.edits, e.shielded, e.looked = e.edits[:0], e.shielded[:0], false }

// Replace notes that what stands at a span becomes with.
func (e *Editor) Replace(at Span, with []byte) { e.edits = append(e.edits, edit{at, with}) }

// Shield keeps a span from being edited by Paths.
func (e *Editor) Shield(at Span) { e.shielded = append(e.shielded, at) }

// Cwd moves a working directory: value is the JSON string that stands at a span
// of the line. Nearly all lines have that of the line before.
func (e *Editor) Cwd(at Span, value []byte) {
	e.Shield(at)
	if e.cwd == nil || !bytes.Equal(value, e.cwd) {
		e.cwd, e.moved = append(e.cwd[:0], value...), nil
		if old := jsontext.Text(value); old != "" {
			if moved := e.move(old); moved != old {
				e.moved = jsontext.Quote(moved)
			}
		}
	}
	if e.moved != nil {
		e.Replace(at, e.moved)
	}
}

// move maps a working directory from the old place to the new one.
func (e *Editor) move(dir string) string {
	for _, p := range [][2]string{{e.to.OldRoot, e.to.NewRoot}, {e.to.OldName, e.to.NewName}, {e.to.OldCwd, e.to.NewCwd}} {
		if rest, ok := below(dir, p[0]); ok && p[0] != p[1] {
			return p[1] + rest
		}
	}
	return dir
}

// below reports whether dir is parent or in it, and the rest of its path.
func below(dir, parent string) (rest string, ok bool) {
	if parent == "" || parent == "/" {
		return "", false
	}
	parent = strings.ToValidUTF8(parent, "\ufffd")
	rest, ok = strings.CutPrefix(dir, parent)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// Paths edits every path that stands free and is the old root or name, or below
// one of them.
func (e *Editor) Paths(b []byte) {
	for _, path := range e.paths {
		for at := 0; ; {
			m, ok := path.next(b, at)
			if !ok {
				break
			}
			at = m.end
			if e.isShielded(m.start, m.end) {
				continue // in cwd, as nearly every line has it
			}
			if e.Free(b, Span{m.start, m.end}) {
				e.Replace(Span{m.start, m.end}, path.write(nil, m.style))
			}
		}
	}
}

// Free reports whether a span may be edited: it is neither shielded nor signed.
func (e *Editor) Free(b []byte, at Span) bool {
	if !e.looked {
		e.shielded = append(e.shielded, e.signed(b)...)
		e.looked = true
	}
	return !e.isShielded(at.Start, at.End)
}

func (e *Editor) isShielded(start, end int) bool {
	for _, s := range e.shielded {
		if start < s.End && s.Start < end {
			return true
		}
	}
	return false
}

// Apply appends b with its edits to dst. Edits that overlap an earlier one are
// left out.
func (e *Editor) Apply(dst, b []byte) []byte {
	slices.SortFunc(e.edits, func(x, y edit) int { return x.Start - y.Start })
	at := 0
	for _, change := range e.edits {
		if change.Start < at {
			continue
		}
		dst = append(dst, b[at:change.Start]...)
		dst = append(dst, change.with...)
		at = change.End
	}
	return append(dst, b[at:]...)
}
