package gemini

import (
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/parts"
)

// Rewrite copies a session under a new identity. Lines are edited in place: no
// JSON is decoded and encoded again, so that everything else stays the byte it
// was. Changed are the session's id and the hash of its directory, in every
// header and patch; when it was last used, since the client deletes what it takes
// for old by what the file says; and the paths below the old root, but for parts
// that the model has signed.
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
	return rw.Apply(nil, b)
}

type rewriter struct {
	*jsonlines.Editor
	fields map[string]change
	used   []byte // when the copy was last used, as JSON; nil to leave it
}

// change is what a string becomes if it is from.
type change struct{ from, to string }

// stampForm is how JavaScript writes a time.
const stampForm = "2006-01-02T15:04:05.000Z"

func newRewriter(to sessions.Rewrite, plain bool) *rewriter {
	rw := &rewriter{Editor: jsonlines.NewEditor(to, plain, parts.Signed), fields: map[string]change{
		"sessionId":   {to.OldID, to.NewID},
		"projectHash": {hashOf(to.OldCwd), hashOf(to.NewCwd)},
	}}
	if !to.Now.IsZero() {
		rw.used = []byte(to.Now.UTC().Format(stampForm))
	}
	return rw
}

// line appends the rewritten line to dst. A line that is no JSON object is
// appended as it is: the agent skips it, and so nothing in it is read.
func (w *rewriter) line(dst, b []byte) []byte {
	w.Begin()
	if !w.findFields(b, 0, len(b)) {
		return append(dst, b...)
	}
	w.Paths(b)
	return w.Apply(dst, b)
}

// findFields edits what identifies the session in the object b[start:end], and
// in the patch in it. It reports false if that is no object and nothing else.
func (w *rewriter) findFields(b []byte, start, end int) bool {
	c := jsontext.WalkAt(b[:end], start)
	for key, value := range c.Members() {
		at := jsonlines.Span{Start: c.Pos() - len(value), End: c.Pos()}
		name := string(key)
		raw := jsontext.Raw(value)
		inside := jsonlines.Span{Start: at.Start + 1, End: at.End - 1}
		switch change, known := w.fields[name]; {
		case name == "$set" && start == 0:
			w.findFields(b, at.Start, at.End)
		case known && change.from != "" && change.from != change.to && string(raw) == change.from:
			w.Replace(inside, []byte(change.to))
		case name == "lastUpdated" && w.used != nil && len(raw) > 0:
			w.Replace(inside, w.used)
		}
	}
	return c.Whole()
}
