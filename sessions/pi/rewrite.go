package pi

import (
	"bytes"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Rewrite copies a session under a new identity. Lines are edited in place. Changed are the
// id and the working directory of the first line, and the paths below the old root but in
// blocks that the model has signed. Where the directory is left as it was, pi works in the
// source's.
func (Adapter) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if err := to.Known(rewriteVersion); err != nil {
		return err
	}
	return jsonlines.Rewrite(w, io.LimitReader(r, length), func() jsonlines.Rewriter {
		return (&rewriter{Editor: jsonlines.NewEditor(to, false, signed), to: to}).line
	})
}

// rewriteVersion is counted up when Rewrite is to give other bytes for any input; the
// code for each version that was released stays.
const rewriteVersion = 1

// RewriteVersion implements sessions.Adapter.
func (Adapter) RewriteVersion() int { return rewriteVersion }

// signed are the blocks of an answer that hold the model's thoughts, or a signature.
func signed(b []byte) []jsonlines.Span {
	if !bytes.Contains(b, []byte(`ignature"`)) && !bytes.Contains(b, []byte(`"thinking"`)) {
		return nil
	}
	at := jsontext.ValueAt(b, 0, "message")
	if at == len(b) || jsontext.Text(jsontext.Lookup(b[at:], "role")) != "assistant" {
		return nil
	}
	var spans []jsonlines.Span
	list := jsontext.WalkAt(b, jsontext.ValueAt(b, at, "content"))
	for block := range list.Elements() {
		if isSigned(block) {
			spans = append(spans, jsonlines.Span{Start: list.Pos() - len(block), End: list.Pos()})
		}
	}
	return spans
}

func isSigned(block []byte) bool {
	c := jsontext.Walk(block)
	for key, value := range c.Members() {
		if bytes.HasSuffix(key, []byte("ignature")) && len(value) > len(`""`) || string(key) == "type" && jsontext.Text(value) == "thinking" {
			return true
		}
	}
	return false
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
	if l.kind == typeSession {
		w.header(b, l)
	}
	w.Paths(b)
	return w.Apply(dst, b)
}

func (w *rewriter) header(b []byte, l line) {
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		at := jsonlines.Span{Start: c.Pos() - len(value), End: c.Pos()}
		switch string(key) {
		case "id":
			if l.id == w.to.OldID {
				w.Replace(at, jsontext.Quote(w.to.NewID))
			}
		case "cwd":
			w.Cwd(at, value)
		case "parentSession":
			w.Shield(at) // where its own source lies
		}
	}
}
