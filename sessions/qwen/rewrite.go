package qwen

import (
	"bytes"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/parts"
)

// Rewrite copies a session under a new identity. Lines are edited in place. Changed are the
// id and the working directory of each line, or else the client does not find the copy or
// lists it under the source's id; the ids of prompts; the paths below the old root, but in
// parts that the model has signed; and the paths of the old session's own files. A last line
// without an end goes: the client would write its next one behind it, and lose with both
// all that was said before.
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
	return jsonlines.Rewrite(w, r, func() jsonlines.Rewriter { return newRewriter(to).line })
}

type rewriter struct {
	*jsonlines.Editor
	to    sessions.Rewrite
	oldID jsonlines.Finder
	old   []byte // the old project directory's name
}

func newRewriter(to sessions.Rewrite) *rewriter {
	return &rewriter{
		Editor: jsonlines.NewEditor(to, false, parts.Signed), to: to,
		oldID: jsonlines.NewFinder([]byte(to.OldID)), old: []byte(sessions.DashedName(to.OldCwd)),
	}
}

// line appends the rewritten line to dst; one that is no JSON object as it is.
func (w *rewriter) line(dst, b []byte) []byte {
	w.Begin()
	if !w.fields(b) {
		return append(dst, b...)
	}
	w.Paths(b)
	w.ownIDs(b)
	return w.Apply(dst, b)
}

// fields edits what says whose line it is. It reports false for what is no object.
func (w *rewriter) fields(b []byte) bool {
	c := jsontext.Walk(b)
	for key, value := range c.Members() {
		at := jsonlines.Span{Start: c.Pos() - len(value), End: c.Pos()}
		switch string(key) {
		case "sessionId", "parentSessionId": // the latter of what is noted of a subagent
			if w.to.OldID != "" && string(jsontext.Raw(value)) == w.to.OldID {
				w.Replace(at, jsontext.Quote(w.to.NewID))
			}
		case "cwd":
			w.Cwd(at, value)
		}
	}
	return c.Whole()
}

// ownIDs edits the old id where a prompt's begins with it, and in the paths of the session's
// own files, which are copied too. Other files that have it in their path are not.
func (w *rewriter) ownIDs(b []byte) {
	if w.to.OldID == "" || w.to.OldID == w.to.NewID {
		return
	}
	for end := 0; ; {
		start := w.oldID.Next(b, end)
		if start < 0 {
			return
		}
		end = start + len(w.to.OldID)
		at, with := jsonlines.Span{Start: start, End: end}, []byte(w.to.NewID)
		if !bytes.HasPrefix(b[end:], []byte(promptMark)) {
			var own bool
			if at, with, own = w.ownPath(b, start, end); !own {
				continue
			}
		}
		if w.Free(b, at) {
			w.Replace(at, with)
		}
	}
}

// ownPath is the edit for the id at b[start:end] if that stands in the path of the session's
// file, or of a subagent's: …/DIRECTORY/chats/ID or …/DIRECTORY/subagents/ID.
func (w *rewriter) ownPath(b []byte, start, end int) (at jsonlines.Span, with []byte, own bool) {
	for _, place := range []string{"/" + chatsDir + "/", "/" + agentsDir + "/"} {
		head, ok := bytes.CutSuffix(b[:start], []byte(place))
		if !ok {
			continue
		}
		if head, ok = bytes.CutSuffix(head, w.old); ok && bytes.HasSuffix(head, []byte("/projects/")) {
			return jsonlines.Span{Start: len(head), End: end}, []byte(sessions.DashedName(w.to.NewCwd) + place + w.to.NewID), true
		}
	}
	return at, nil, false
}
