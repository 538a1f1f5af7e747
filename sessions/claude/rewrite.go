package claude

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// Rewrite copies a session under a new identity. Lines are edited in place by
// search: no JSON is decoded and encoded again, so that everything else stays
// the byte it was. Changed are the top-level sessionId and cwd, the paths below
// the old root, and the paths of the old session's own files; never a signed
// block or another id.
func (Adapter) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if to.Version < 0 || to.Version > rewriteVersion {
		return fmt.Errorf("%w: %d", sessions.ErrRewriteVersion, to.Version)
	}
	return rewriteLines(w, io.LimitReader(r, length), to)
}

// rewriteVersion is counted up when Rewrite is to give other bytes for any
// input; the code for the versions before stays.
const rewriteVersion = 1

// RewriteVersion implements sessions.Adapter.
func (Adapter) RewriteVersion() int { return rewriteVersion }

// rewriteText rewrites the paths in a side file that has no lines of its own.
func rewriteText(b []byte, to sessions.Rewrite, plain bool) []byte {
	rw := newRewriter(to, plain)
	rw.edits = rw.edits[:0]
	rw.findPaths(b)
	rw.findSession(b)
	return rw.apply(nil, b)
}

type rewriter struct {
	to       sessions.Rewrite
	path     *pathMatcher
	oldID    finder
	oldSlug  string // the old project directory's name
	newSlug  string
	cwd      []byte // of the newest line that had one, and what it became
	moved    []byte
	edits    []edit
	shielded []span
}

type edit struct {
	span
	with []byte
}

type span struct{ start, end int }

func newRewriter(to sessions.Rewrite, plain bool) *rewriter {
	return &rewriter{
		to: to, path: newPathMatcher(to.OldRoot, to.NewRoot, plain),
		oldID: newFinder([]byte(to.OldID)), oldSlug: slug(to.OldCwd), newSlug: slug(to.NewCwd),
	}
}

// line appends the rewritten line to dst. A line that is no JSON object is
// appended as it is: the agent skips it, and so nothing in it is read.
func (w *rewriter) line(dst, b []byte) []byte {
	w.edits, w.shielded = w.edits[:0], w.shielded[:0]
	if !w.findFields(b) {
		return append(dst, b...)
	}
	w.findPaths(b)
	w.findSession(b)
	return w.apply(dst, b)
}

// findFields edits the top-level sessionId and cwd. It reports false for a line
// that is no object.
func (w *rewriter) findFields(b []byte) bool {
	c := walk(b)
	for {
		key, value, ok := c.member()
		if !ok {
			return c.whole()
		}
		switch string(key) {
		case "sessionId":
			if w.to.OldID != "" && string(raw(value)) == w.to.OldID {
				w.edits = append(w.edits, edit{span{c.i - len(value) + 1, c.i - 1}, []byte(w.to.NewID)})
			}
		case "cwd":
			at := span{c.i - len(value), c.i}
			w.shielded = append(w.shielded, at)
			if moved := w.movedCwd(value); moved != nil {
				w.edits = append(w.edits, edit{at, moved})
			}
		}
	}
}

// movedCwd is what a line's cwd becomes, as JSON, nil if it stays. Nearly all lines
// have that of the line before.
func (w *rewriter) movedCwd(value []byte) []byte {
	if w.cwd != nil && bytes.Equal(value, w.cwd) {
		return w.moved
	}
	w.cwd, w.moved = append(w.cwd[:0], value...), nil
	if old := text(value); old != "" {
		if moved := w.move(old); moved != old {
			w.moved = quoteJSON(moved)
		}
	}
	return w.moved
}

// move maps a working directory from the old place to the new one.
func (w *rewriter) move(dir string) string {
	for _, p := range [][2]string{{w.to.OldRoot, w.to.NewRoot}, {w.to.OldCwd, w.to.NewCwd}} {
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

// findPaths edits every path below the old root outside signed blocks.
func (w *rewriter) findPaths(b []byte) {
	if w.path == nil {
		return
	}
	looked := false
	for at := 0; ; {
		m, ok := w.path.next(b, at)
		if !ok {
			return
		}
		at = m.end
		if w.isShielded(m.start, m.end) {
			continue // in cwd, as nearly every line has it
		}
		if !looked {
			w.shielded = append(w.shielded, signedBlocks(b)...)
			looked = true
		}
		if !w.isShielded(m.start, m.end) {
			w.edits = append(w.edits, edit{span{m.start, m.end}, w.path.write(nil, m.style)})
		}
	}
}

// findSession edits the paths of the old session's transcript and side files,
// …/projects/<directory>/<id>[.jsonl][/…], outside signed blocks.
func (w *rewriter) findSession(b []byte) {
	if w.to.OldID == "" || w.to.OldID == w.to.NewID {
		return
	}
	looked := false
	for end := 0; ; {
		start := w.oldID.next(b, end)
		if start < 0 {
			return
		}
		end = start + len(w.to.OldID)
		e, ok := w.sessionPath(b, start, end)
		if !ok {
			continue
		}
		if !looked {
			w.shielded = append(w.shielded, signedBlocks(b)...)
			looked = true
		}
		if !w.isShielded(e.start, e.end) {
			w.edits = append(w.edits, e)
		}
	}
}

// sessionPath is the edit for an id that stands at b[start:end], if that is a
// path's component below a project directory.
func (w *rewriter) sessionPath(b []byte, start, end int) (edit, bool) {
	if end < len(b) && (isHex(b[end]) || b[end] == '-' || b[end] == '_') {
		return edit{}, false
	}
	head, gap := cutSlash(b[:start])
	if gap == 0 {
		return edit{}, false
	}
	if strings.HasSuffix(string(head[max(0, len(head)-len(w.oldSlug)):]), w.oldSlug) && w.oldSlug != "" {
		dir, slash := cutSlash(head[:len(head)-len(w.oldSlug)])
		if slash > 0 && bytes.HasSuffix(dir, []byte("projects")) {
			with := slices.Concat([]byte(w.newSlug), b[len(head):start], []byte(w.to.NewID))
			return edit{span{len(head) - len(w.oldSlug), end}, with}, true
		}
	}
	// The directory's name may be CLAUDE_CODE_PROJECT_DIR_NAME's: it stays.
	i := len(head)
	for i > 0 && (isAlnum(head[i-1]) || head[i-1] == '-' || head[i-1] == '_') {
		i--
	}
	if dir, slash := cutSlash(head[:i]); slash > 0 && bytes.HasSuffix(dir, []byte("projects")) {
		return edit{span{start, end}, []byte(w.to.NewID)}, true
	}
	return edit{}, false
}

// cutSlash takes a slash and its escapes off the end of b.
func cutSlash(b []byte) (head []byte, n int) {
	if len(b) == 0 || b[len(b)-1] != '/' {
		return b, 0
	}
	n = 1 + min(2, backslashes(b, len(b)-1))
	return b[:len(b)-n], n
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (w *rewriter) isShielded(start, end int) bool {
	for _, s := range w.shielded {
		if start < s.end && s.start < end {
			return true
		}
	}
	return false
}

// apply appends b with its edits to dst. Edits that overlap an earlier one are
// left out.
func (w *rewriter) apply(dst, b []byte) []byte {
	slices.SortFunc(w.edits, func(x, y edit) int { return x.start - y.start })
	at := 0
	for _, e := range w.edits {
		if e.start < at {
			continue
		}
		dst = append(dst, b[at:e.start]...)
		dst = append(dst, e.with...)
		at = e.end
	}
	return append(dst, b[at:]...)
}
