package opencode

import (
	"bytes"
	"crypto/sha256"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Rewrite copies a session under a new identity. Lines are edited in place.
// Changed are the session's id, the working directory, the paths below the old
// root, and the ids of messages and parts, which are unique in OpenCode's
// database: their random letters are turned by what differs between the two
// sessions' ids, so that the order stays and the way back is the same. They are
// wherever a value names one, as a compaction does the message from which on it keeps
// what was said: else the copy's model would be sent all from the beginning. So are
// those of subagents' sessions, wherever they are named: what a subagent said is
// copied by the same rule, and a copy's model that went on with its source's would
// write into it. The model's reasoning, which may be signed, keeps its words, and
// of a call that is signed only the result is edited, which is not the model's.
func (Adapter) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if err := to.Known(rewriteVersion); err != nil {
		return err
	}
	turn := turnOf(to.OldID, to.NewID)
	return jsonlines.Rewrite(w, io.LimitReader(r, length), func() jsonlines.Rewriter {
		return (&rewriter{Editor: jsonlines.NewEditor(to, false, signed), to: to, turn: turn}).line
	})
}

// rewriteVersion is counted up when Rewrite is to give other bytes for any input; the
// code for each version that was released stays.
const rewriteVersion = 1

// RewriteVersion implements sessions.Adapter.
func (Adapter) RewriteVersion() int { return rewriteVersion }

// results are the members of a call's state that are none of the model's words.
var results = []string{"output", "error", "title", "metadata"}

// signed is what stands under the model's signature: a whole part, but for the
// results of a call.
func signed(b []byte) []jsonlines.Span {
	whole := signedWhole(b)
	if whole == nil {
		return nil
	}
	value := jsontext.ValueAt(b, 0, "value")
	if jsontext.Text(jsontext.Lookup(b[value:], "type")) != "tool" {
		return whole
	}
	var spans []jsonlines.Span
	at := 0
	c := jsontext.WalkAt(b, jsontext.ValueAt(b, value, "state"))
	for key, result := range c.Members() {
		if slices.Contains(results, string(key)) {
			spans = append(spans, jsonlines.Span{Start: at, End: c.Pos() - len(result)})
			at = c.Pos()
		}
	}
	return append(spans, jsonlines.Span{Start: at, End: len(b)})
}

// signedWhole is the whole of a part that holds the model's reasoning, or whose
// metadata hold a signature of it, as those of a tool call by some models do.
func signedWhole(b []byte) []jsonlines.Span {
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
	c, part := jsontext.Walk(b), jsonlines.Span{}
	for key, value := range c.Members() {
		end := c.Pos()
		switch string(key) {
		case "session", "id":
			w.identity(end, value)
		case "value":
			part = jsonlines.Span{Start: end - len(value), End: end}
			w.value(b, part.Start)
		}
	}
	if !c.Whole() {
		return append(dst, b...)
	}
	w.sessions(b, part)
	w.Paths(b)
	return w.Apply(dst, b)
}

// value edits the object that begins at b[at].
func (w *rewriter) value(b []byte, at int) {
	c := jsontext.WalkAt(b, at)
	for key, value := range c.Members() {
		end := c.Pos()
		switch string(key) {
		case "id", "sessionID", "messageID", "parentID", "partID":
			w.identity(end, value)
		case "directory", "cwd", "root":
			w.Cwd(jsonlines.Span{Start: end - len(value), End: end}, value)
		case "path", "revert":
			w.value(b, end-len(value))
		default:
			if bytes.Contains(value, messageMark) || bytes.Contains(value, partMark) {
				w.named(b, string(key), value, end, deepest)
			}
		}
	}
}

// deepest is how far below a value ids are looked for. OpenCode's own stand four below
// it, in the files that a call gave.
const deepest = 8

// foreign are the members below which names are no words of OpenCode's: what a call is
// given, an answer in a form that was asked for, and what a tool or the model's service
// notes, whose own ids may look like OpenCode's.
var foreign = []string{"input", "structured", "format", "metadata", "error"}

// named edits the ids in the value, which ends at end, of a member of that name. A
// string is one if its name says so: a text may quote one.
func (w *rewriter) named(b []byte, name string, value []byte, end, depth int) {
	if depth == 0 || slices.Contains(foreign, name) {
		return
	}
	c := jsontext.WalkAt(b, end-len(value))
	switch value[0] {
	case '"':
		if namesID(name) {
			w.identity(end, value)
		}
	case '{':
		for key, value := range c.Members() {
			w.named(b, string(key), value, c.Pos(), depth-1)
		}
	case '[':
		for value := range c.Elements() {
			w.named(b, name, value, c.Pos(), depth-1)
		}
	}
}

// namesID reports whether a member's name is that of an id, or of several.
func namesID(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), "s")
	return strings.HasSuffix(name, "id")
}

// messageMark and partMark begin the ids of messages and parts.
var messageMark, partMark = []byte("msg_"), []byte("prt_")

const (
	sessionMark = "ses_"
	sessionLen  = fixed + 14
)

// sessions edits every id of a session that stands in a value, in its text too: a
// task tells the model its subagent's there.
func (w *rewriter) sessions(b []byte, in jsonlines.Span) {
	for at := in.Start; ; {
		n := bytes.Index(b[at:in.End], []byte(sessionMark))
		if n < 0 {
			return
		}
		start := at + n
		end := start + len(sessionMark)
		for end < in.End && isAlnum(b[end]) {
			end++
		}
		at = end
		id, where := b[start:end], jsonlines.Span{Start: start, End: end}
		switch {
		case len(id) != sessionLen || start > in.Start && isAlnum(b[start-1]) || !w.Free(b, where):
		case string(id) == w.to.OldID:
			w.Replace(where, []byte(w.to.NewID))
		default:
			if turned := w.turn.session(id); turned != nil {
				w.Replace(where, turned)
			}
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
	} else if turned := w.turn.session(id); turned != nil {
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
	if len(id) <= fixed || len(id) > fixed+len(t) || !bytes.HasPrefix(id, messageMark) && !bytes.HasPrefix(id, partMark) {
		return nil
	}
	return t.letters(id)
}

// session is the new id of a subagent's session; nil for any other word.
func (t turn) session(id []byte) []byte {
	if len(id) != sessionLen || string(id[:4]) != sessionMark {
		return nil
	}
	return t.letters(id)
}

// letters turns the random letters of an id; nil if they are none.
func (t turn) letters(id []byte) []byte {
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
