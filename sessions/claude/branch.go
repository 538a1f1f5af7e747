package claude

import (
	"errors"
	"io"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/jsonlines"
)

// WentBack implements sessions.Branching. Claude Code writes nothing when its user goes
// back (/rewind, Esc Esc): what the next prompt goes on from is not below the beginning
// of the last turn then.
func (Adapter) WentBack(end, after io.Reader, written int64) (string, bool, bool, error) {
	prompt := nextPrompt{written: written, parents: parents{}}
	split := jsonlines.Splitter{Line: prompt.Line}
	if err := split.Drain(after); err != nil && !errors.Is(err, errFound) {
		return "", false, false, err
	}
	if !prompt.found || prompt.from == "" { // no client that is known begins anew in its file
		return "", false, true, nil
	}
	turn := lastTurn{parents: parents{}, words: map[string]bool{}}
	split = jsonlines.Splitter{Line: turn.Line}
	if err := split.Drain(end); err != nil || turn.begin == "" {
		return "", false, false, err
	}
	line, back := turn.left(prompt.from)
	return line, back, true, nil
}

// CutAfter implements sessions.Addressed: a message is a line, and its id the line's.
func (Adapter) CutAfter(r io.Reader, message string) (sessions.Cut, int64, error) {
	return jsonlines.CutAfter(r, &cutter{}, func(b []byte) jsonlines.Part {
		l, _ := parseLine(b)
		return jsonlines.PartOf(message, string(l.uuid))
	})
}

// parents tells of lines what each goes on from, "" for nothing.
type parents map[string]string

// add notes a line. A compaction goes on from what it sums up, if it says what that is.
func (p parents) add(l line, kind class) {
	switch {
	case len(l.uuid) == 0:
	case kind != classBoundary:
		p[string(l.uuid)] = string(l.parent)
	case len(l.logical) > 0:
		p[string(l.uuid)] = string(l.logical)
	default:
		p[string(l.uuid)] = string(l.uuid)
	}
}

// nextPrompt is the first prompt after a moment.
type nextPrompt struct {
	written int64   // bytes that were there at the moment
	parents parents // of the lines before it
	found   bool    // it is there, and says what it goes on from
	from    string  // the line above these
}

// Line implements jsonlines.Splitter's.
func (n *nextPrompt) Line(b []byte, start int64) error {
	l, ok := parseLine(b)
	if !ok {
		return nil
	}
	kind, _ := l.classify()
	n.parents.add(l, kind)
	if start < n.written || kind != classPrompt && kind != classCommand {
		return nil
	}
	n.from = string(l.parent)
	for range len(n.parents) {
		up, ok := n.parents[n.from]
		if !ok {
			n.found = true
			break
		}
		n.from = up
	}
	return errFound // not found in a circle: it goes on from a compaction of anything
}

// lastTurn is the last turn of a conversation.
type lastTurn struct {
	begin   string          // the id of the line that it begins with, "" if that was not read
	parents parents         // of its lines
	words   map[string]bool // its lines that are answers, results and summaries
	command line            // a slash command that may be local; its id alone is kept
}

// Line implements jsonlines.Splitter's.
func (t *lastTurn) Line(b []byte, _ int64) error {
	l, ok := parseLine(b)
	if !ok {
		return nil
	}
	kind, _ := l.classify()
	switch {
	case kind == classPrompt:
		t.begins(l)
	case kind == classCommand:
		t.command = line{uuid: append([]byte(nil), l.uuid...), parent: append([]byte(nil), l.parent...)}
	case kind == classLocal:
		t.command = line{}
	case kind.makesPrompt() && len(t.command.uuid) > 0:
		t.begins(t.command)
	}
	t.parents.add(l, kind)
	if kind == classAnswer || kind == classResult || kind == classSummary {
		t.words[string(l.uuid)] = true
	}
	return nil
}

func (t *lastTurn) begins(l line) {
	clear(t.parents)
	clear(t.words)
	t.parents.add(l, classPrompt)
	t.begin, t.command = string(l.uuid), line{}
}

// left reports whether what goes on from a line has left the turn, and the line before
// the turn that it goes on from then. What goes on from anything that was said in the
// turn has not, whatever that went on from: two clients may write one file.
func (t *lastTurn) left(from string) (string, bool) {
	at := from
	for range len(t.parents) + 1 { // a circle ends too
		up, ok := t.parents[at]
		switch {
		case at == t.begin || t.words[at] || at == "":
			return "", false // "": nothing says what it goes on from
		case !ok:
			return at, true
		}
		at = up
	}
	return "", false
}
