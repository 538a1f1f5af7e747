package codex

import (
	"bytes"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// Rewrite copies a session under a new identity. Lines are edited in place by
// search: no JSON is decoded and encoded again, so that everything else stays
// the byte it was. Changed are the session's id where it is one (never in text),
// the directory of the first line, and the paths below the old root; never the
// model's thoughts, what is encrypted, or the id of another session: what Codex
// has forked itself goes on from the same ancestors. Subagents get the ids of
// their copies. A copy whose last turn has its answer ends it.
func (Adapter) Rewrite(w io.Writer, r io.Reader, length int64, to sessions.Rewrite) error {
	if err := to.Known(rewriteVersion); err != nil {
		return err
	}
	end := &ending{w: w}
	if err := rewriteLines(end, io.LimitReader(r, length), to, nil); err != nil {
		return err
	}
	if to.OldID == to.NewID {
		return nil
	}
	return end.close()
}

// rewriteLines copies the lines of a session, or of a subagent of it. agents are
// the ids of subagents that are copied too.
func rewriteLines(w io.Writer, r io.Reader, to sessions.Rewrite, agents []string) error {
	return jsonlines.Rewrite(w, r, func() jsonlines.Rewriter { return newRewriter(to, agents).line })
}

// rewriteVersion is counted up when Rewrite is to give other bytes for any input; the
// code for each version that was released stays.
const rewriteVersion = 1

// RewriteVersion implements sessions.Adapter.
func (Adapter) RewriteVersion() int { return rewriteVersion }

type rewriter struct {
	*jsonlines.Editor
	ids    []renamed
	shift  shift
	agents bool // ids of subagents are changed where a line names one
	agent  jsonlines.Finder
}

// renamed is an id and what it becomes.
type renamed struct {
	find jsonlines.Finder // with the quotes around it
	to   []byte
}

// agentMember names a subagent of the session, started or heard of.
const agentMember = `"agent_thread_id":"`

func newRewriter(to sessions.Rewrite, agents []string) *rewriter {
	w := &rewriter{Editor: jsonlines.NewEditor(to, false, sealed), agent: jsonlines.NewFinder([]byte(agentMember))}
	if to.OldID == "" || to.OldID == to.NewID {
		return w
	}
	w.shift, w.agents = shiftOf(to), true
	w.rename(to.OldID, to.NewID)
	for _, id := range agents {
		w.rename(id, w.shift.id(id))
	}
	return w
}

func (w *rewriter) rename(old, id string) {
	w.ids = append(w.ids, renamed{jsonlines.NewFinder([]byte(`"` + old + `"`)), []byte(id)})
}

// line appends the rewritten line to dst. A line that is no JSON object is
// appended as it is.
func (w *rewriter) line(dst, b []byte) []byte {
	w.Begin()
	l, ok := parseLine(b)
	if !ok {
		return append(dst, b...)
	}
	if l.kind == "session_meta" || l.kind == "turn_context" {
		w.findCwd(l)
	}
	for _, id := range w.ids {
		w.findID(b, id)
	}
	w.findAgents(b)
	w.Paths(b)
	return w.Apply(dst, b)
}

// findCwd edits the directory that a line is about.
func (w *rewriter) findCwd(l line) {
	c := jsontext.Walk(l.payload)
	for key, value := range c.Members() {
		if string(key) == "cwd" {
			end := l.begin + c.Pos()
			w.Cwd(jsonlines.Span{Start: end - len(value), End: end}, value)
		}
	}
}

// findID edits an id where it is the value of a member that is named for an id
// (id, session_id, thread_id): nowhere else, and so in no text.
func (w *rewriter) findID(b []byte, id renamed) {
	for at := 0; ; {
		start := id.find.Next(b, at)
		if start < 0 {
			return
		}
		at = start + len(id.to) + 2
		if isIDMember(b[:start]) {
			w.Replace(jsonlines.Span{Start: start + 1, End: at - 1}, id.to)
		}
	}
}

// findAgents edits the ids of subagents: what was asked of one that the copy has
// not got is not to be asked of its source's.
func (w *rewriter) findAgents(b []byte) {
	if !w.agents {
		return
	}
	for at := 0; ; {
		start := w.agent.Next(b, at)
		if start < 0 {
			return
		}
		start += len(agentMember)
		at = start
		if end := start + uuidLen; end < len(b) && sessions.IsUUID(string(b[start:end])) {
			w.Replace(jsonlines.Span{Start: start, End: end}, []byte(w.shift.id(string(b[start:end]))))
			at = end
		}
	}
}

const uuidLen = 36

// isIDMember reports whether what stands before a value is the name of an id.
func isIDMember(before []byte) bool {
	before = bytes.TrimRight(before, " ")
	name, ok := bytes.CutSuffix(before, []byte(":"))
	name, ok2 := bytes.CutSuffix(bytes.TrimRight(name, " "), []byte(`"`))
	if !ok || !ok2 {
		return false
	}
	return bytes.HasSuffix(name, []byte(`"id`)) || bytes.HasSuffix(name, []byte("_id"))
}

// encrypted is the name of what only the API can read.
var encrypted = []byte(`"encrypted_content"`)

// sealed finds what the API must get back as it gave it: a whole thought, and
// elsewhere what is encrypted.
func sealed(b []byte) []jsonlines.Span {
	if l, ok := parseLine(b); ok && l.ptype == "reasoning" {
		return []jsonlines.Span{{Start: 0, End: len(b)}}
	}
	var found []jsonlines.Span
	for at := 0; ; {
		n := bytes.Index(b[at:], encrypted)
		if n < 0 {
			return found
		}
		at += n + len(encrypted)
		start := jsontext.SkipSpace(b, at)
		if start >= len(b) || b[start] != ':' {
			continue
		}
		start = jsontext.SkipSpace(b, start+1)
		if end := jsontext.SkipValue(b, start); end > 0 {
			found = append(found, jsonlines.Span{Start: start, End: end})
			at = end
		}
	}
}
