package claude

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Rewrite copies a session under a new identity. Lines are edited in place by
// search: no JSON is decoded and encoded again, so that everything else stays
// the byte it was. Changed are the top-level sessionId and cwd, the paths below
// the old root, and the paths of the old session's own files; never a signed
// block or another id. A copy for another workspace has left the worktree that the
// session was in: Claude Code would go on in the source's.
func (Adapter) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if err := to.Known(rewriteVersion); err != nil {
		return err
	}
	return rewriteLines(w, io.LimitReader(r, length), to)
}

// rewriteVersion is counted up when Rewrite is to give other bytes for any input; the
// code for each version that was released stays.
const rewriteVersion = 1

// RewriteVersion implements sessions.Adapter.
func (Adapter) RewriteVersion() int { return rewriteVersion }

func rewriteLines(w io.Writer, r io.Reader, to sessions.Rewrite) error {
	return jsonlines.Rewrite(w, r, func() jsonlines.Rewriter { return newRewriter(to, false).line })
}

// rewriteText rewrites the paths in a side file that has no lines of its own.
func rewriteText(b []byte, to sessions.Rewrite, plain bool) []byte {
	rw := newRewriter(to, plain)
	rw.Paths(b)
	rw.findSession(b)
	return rw.Apply(nil, b)
}

type rewriter struct {
	*jsonlines.Editor
	to      sessions.Rewrite
	oldID   jsonlines.Finder
	oldSlug string // the old project directory's name
	newSlug string
}

func newRewriter(to sessions.Rewrite, plain bool) *rewriter {
	return &rewriter{
		Editor: jsonlines.NewEditor(to, plain, signedBlocks), to: to,
		oldID: jsonlines.NewFinder([]byte(to.OldID)), oldSlug: slug(to.OldCwd), newSlug: slug(to.NewCwd),
	}
}

// line appends the rewritten line to dst. A line that is no JSON object is
// appended as it is: the agent skips it, and so nothing in it is read.
func (w *rewriter) line(dst, b []byte) []byte {
	w.Begin()
	if !w.findFields(b) {
		return append(dst, b...)
	}
	w.Paths(b)
	w.findSession(b)
	return w.Apply(dst, b)
}

// findFields edits the top-level sessionId and cwd. It reports false for a line
// that is no object.
func (w *rewriter) findFields(b []byte) bool {
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		at := jsonlines.Span{Start: c.Pos() - len(value), End: c.Pos()}
		switch string(key) {
		case "sessionId":
			if w.to.OldID != "" && string(jsontext.Raw(value)) == w.to.OldID {
				w.Replace(jsonlines.Span{Start: at.Start + 1, End: at.End - 1}, []byte(w.to.NewID))
			}
		case "cwd":
			w.Cwd(at, value)
		case "worktreeSession": // of a worktree-state line
			if w.to.OldRoot != w.to.NewRoot {
				w.Shield(at)
				w.Replace(at, []byte("null"))
			}
		}
	}
	return c.Whole()
}

// findSession edits the paths of the old session's transcript and side files,
// …/projects/<directory>/<id>[.jsonl][/…], outside signed blocks.
func (w *rewriter) findSession(b []byte) {
	if w.to.OldID == "" || w.to.OldID == w.to.NewID {
		return
	}
	for end := 0; ; {
		start := w.oldID.Next(b, end)
		if start < 0 {
			return
		}
		end = start + len(w.to.OldID)
		if at, with, ok := w.sessionPath(b, start, end); ok && w.Free(b, at) {
			w.Replace(at, with)
		}
	}
}

// sessionPath is the edit for an id that stands at b[start:end], if that is a
// path's component below a project directory.
func (w *rewriter) sessionPath(b []byte, start, end int) (at jsonlines.Span, with []byte, ok bool) {
	if end < len(b) && (jsontext.IsHex(b[end]) || b[end] == '-' || b[end] == '_') {
		return at, nil, false
	}
	head, gap := cutSlash(b[:start])
	if gap == 0 {
		return at, nil, false
	}
	if strings.HasSuffix(string(head[max(0, len(head)-len(w.oldSlug)):]), w.oldSlug) && w.oldSlug != "" {
		dir, slash := cutSlash(head[:len(head)-len(w.oldSlug)])
		if slash > 0 && bytes.HasSuffix(dir, []byte("projects")) {
			with := slices.Concat([]byte(w.newSlug), b[len(head):start], []byte(w.to.NewID))
			return jsonlines.Span{Start: len(head) - len(w.oldSlug), End: end}, with, true
		}
	}
	// The directory's name may be CLAUDE_CODE_PROJECT_DIR_NAME's: it stays.
	i := len(head)
	for i > 0 && (isAlnum(head[i-1]) || head[i-1] == '-' || head[i-1] == '_') {
		i--
	}
	if dir, slash := cutSlash(head[:i]); slash > 0 && bytes.HasSuffix(dir, []byte("projects")) {
		return jsonlines.Span{Start: start, End: end}, []byte(w.to.NewID), true
	}
	return at, nil, false
}

// cutSlash takes a slash and its escapes off the end of b.
func cutSlash(b []byte) (head []byte, n int) {
	if len(b) == 0 || b[len(b)-1] != '/' {
		return b, 0
	}
	n = 1 + min(2, jsontext.Backslashes(b, len(b)-1))
	return b[:len(b)-n], n
}

func isAlnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
