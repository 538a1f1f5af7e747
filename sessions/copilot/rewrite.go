package copilot

import (
	"bytes"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Rewrite copies a session under a new identity. Lines are edited in place. Changed are the
// session's id wherever it stands (it names the directory with the session's own files,
// too), the directories that it worked in, and the paths below the old root, but in what the
// model has thought.
func (Adapter) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if err := to.Known(rewriteVersion); err != nil {
		return err
	}
	return jsonlines.Rewrite(w, io.LimitReader(r, length), func() jsonlines.Rewriter {
		return (&rewriter{Editor: jsonlines.NewEditor(to, false, thoughts), to: to}).line
	})
}

// rewriteVersion is counted up when Rewrite is to give other bytes for any input; the
// code for each version that was released stays.
const rewriteVersion = 1

// RewriteVersion implements sessions.Adapter.
func (Adapter) RewriteVersion() int { return rewriteVersion }

// thoughts are the parts of an answer that its model's service takes back as they are.
func thoughts(b []byte) []jsonlines.Span {
	if !bytes.Contains(b, []byte(`"reasoning`)) && !bytes.Contains(b, []byte(`"encryptedContent"`)) {
		return nil
	}
	var spans []jsonlines.Span
	c := jsontext.WalkAt(b, jsontext.ValueAt(b, 0, "data"))
	for key, value := range c.Members() {
		if bytes.HasPrefix(key, []byte("reasoning")) || string(key) == "encryptedContent" {
			spans = append(spans, jsonlines.Span{Start: c.Pos() - len(value), End: c.Pos()})
		}
	}
	return spans
}

type rewriter struct {
	*jsonlines.Editor
	to sessions.Rewrite
}

// line appends the rewritten line to dst; one that is no JSON object as it is.
func (w *rewriter) line(dst, b []byte) []byte {
	l, ok := parseLine(b)
	if !ok {
		return append(dst, b...)
	}
	w.Begin()
	switch l.kind {
	case typeStart, typeResume:
		w.places(b, "data", "context")
	case typeContext:
		w.places(b, "data")
	case typeHook:
		w.places(b, "data", "input")
	}
	w.identity(b)
	w.Paths(b)
	return w.Apply(dst, b)
}

// identity gives the new id wherever the old one stands.
func (w *rewriter) identity(b []byte) {
	old := []byte(w.to.OldID)
	if len(old) == 0 || w.to.OldID == w.to.NewID {
		return
	}
	for at := 0; ; at += len(old) {
		i := bytes.Index(b[at:], old)
		if i < 0 {
			return
		}
		at += i
		if span := (jsonlines.Span{Start: at, End: at + len(old)}); w.Free(b, span) {
			w.Replace(span, []byte(w.to.NewID))
		}
	}
}

// places moves the directories that an object names, which stands below others.
func (w *rewriter) places(b []byte, path ...string) {
	at := 0
	for _, name := range path {
		if at = jsontext.ValueAt(b, at, name); at == len(b) {
			return
		}
	}
	c := jsontext.WalkAt(b, at)
	for key, value := range c.Members() {
		if name := string(key); name == "cwd" || name == "gitRoot" {
			w.Cwd(jsonlines.Span{Start: c.Pos() - len(value), End: c.Pos()}, value)
		}
	}
}
