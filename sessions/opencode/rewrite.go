package opencode

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Rewrite copies a session under a new identity. Lines are edited in place.
// Changed are the session's id, the working directory, the paths below the old
// root, and the ids of messages and parts, which are unique in OpenCode's
// database: their random letters are turned by what differs between the two
// sessions' ids, so that the order stays and the way back is the same. The
// model's reasoning, which may be signed, keeps its words.
func (Adapter) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if to.Version < 0 || to.Version > rewriteVersion {
		return fmt.Errorf("%w: %d", sessions.ErrRewriteVersion, to.Version)
	}
	turn := turnOf(to.OldID, to.NewID)
	return jsonlines.Rewrite(w, io.LimitReader(r, length), func() jsonlines.Rewriter {
		return (&rewriter{Editor: jsonlines.NewEditor(to, false, signed), to: to, turn: turn}).line
	})
}

// rewriteVersion is counted up when Rewrite is to give other bytes for any
// input; the code for the versions before stays.
const rewriteVersion = 1

// RewriteVersion implements sessions.Adapter.
func (Adapter) RewriteVersion() int { return rewriteVersion }

// signed is the whole of a part that holds the model's reasoning, or whose metadata
// hold a signature of it, as those of a tool call by some models do.
func signed(b []byte) []jsonlines.Span {
	l, _ := parseLine(b)
	if l.kind == typePart && (parsePart(l.value).kind == "reasoning" || bytes.Contains(jsontext.Lookup(l.value, "metadata"), []byte("ignature"))) {
		return []jsonlines.Span{{Start: 0, End: len(b)}}
	}
	return nil
}

type rewriter struct {
	*jsonlines.Editor
	to   sessions.Rewrite
	turn turn
}

// line appends the rewritten line to dst; one that is no JSON object as it is.
func (w *rewriter) line(dst, b []byte) []byte {
	w.Begin()
	c := jsontext.Walk(b)
	for {
		key, value, ok := c.Member()
		if !ok {
			break
		}
		end := c.Pos()
		switch string(key) {
		case "session", "id":
			w.identity(end, value)
		case "value":
			w.value(b, end-len(value))
		}
	}
	if !c.Whole() {
		return append(dst, b...)
	}
	w.Paths(b)
	return w.Apply(dst, b)
}

// value edits the object that begins at b[at].
func (w *rewriter) value(b []byte, at int) {
	c := jsontext.WalkAt(b, at)
	for {
		key, value, ok := c.Member()
		if !ok {
			return
		}
		end := c.Pos()
		switch string(key) {
		case "id", "sessionID", "messageID", "parentID", "partID":
			w.identity(end, value)
		case "directory", "cwd", "root":
			w.Cwd(jsonlines.Span{Start: end - len(value), End: end}, value)
		case "path", "revert":
			w.value(b, end-len(value))
		}
	}
}

// identity edits an id whose JSON string ends at end.
func (w *rewriter) identity(end int, value []byte) {
	id := jsontext.Raw(value)
	inside := jsonlines.Span{Start: end - 1 - len(id), End: end - 1}
	if string(id) == w.to.OldID && w.to.OldID != "" {
		w.Replace(inside, []byte(w.to.NewID))
	} else if turned := w.turn.id(id); turned != nil {
		w.Replace(inside, turned)
	}
}

// base62 are the letters of OpenCode's ids, in the order of their values.
var base62 = []byte("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")

// fixed is what stays of an id: msg_ or prt_, and the time in twelve digits.
const fixed = 4 + 12

// turn says by how many letters each place of an id moves on.
type turn [sha256.Size]byte

func turnOf(oldID, newID string) turn {
	from, to := sha256.Sum256([]byte(oldID)), sha256.Sum256([]byte(newID))
	var t turn
	for i := range t {
		t[i] = byte((int(to[i]%62) - int(from[i]%62) + 62) % 62)
	}
	return t
}

// id is the new id of a message or part; nil for any other word.
func (t turn) id(id []byte) []byte {
	if len(id) <= fixed || len(id) > fixed+len(t) || string(id[:4]) != "msg_" && string(id[:4]) != "prt_" {
		return nil
	}
	turned := slices.Clone(id)
	for i, c := range id[fixed:] {
		at := slices.Index(base62, c)
		if at < 0 {
			return nil
		}
		turned[fixed+i] = base62[(at+int(t[i]))%len(base62)]
	}
	return turned
}
