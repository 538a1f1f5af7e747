package missions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// note is something that the mission's agent is to know, as further context of its
// next prompt. It is a mission's until the conversation shows that the model has
// had it: a hook that is given it may die, or its agent may not wait for it.
type note struct {
	Kind  noteKind `json:"kind"`
	Text  string   `json:"text"`
	Given int      `json:"given,omitempty"` // with so many prompts
	// From is where in the session's file the prompt came that it was given with.
	From    int64  `json:"from,omitempty"`
	Session string `json:"session,omitempty"`
}

// noteKind is what a note is about; a mission has one of each at most.
type noteKind string

const (
	noteFork    noteKind = "fork"    // where it works
	noteRestore noteKind = "restore" // that files have changed beneath it
	noteUndone  noteKind = "undone"  // that what was queued could not be done
)

// mostGiven is how often a note is given at most: an agent that does not write
// down what its hooks say would be told for ever.
const mostGiven = 2

// tell adds a note, in place of an older one of its kind. Nothing to say takes
// that one's place too.
func (m *loaded) tell(kind noteKind, text string) {
	m.Notes = slices.DeleteFunc(slices.Clone(m.Notes), func(n note) bool { return n.Kind == kind })
	if text != "" {
		m.Notes = append(m.Notes, note{Kind: kind, Text: text})
	}
}

// untold is what is to be said with the next prompt.
func (m *loaded) untold() string {
	var texts []string
	for _, n := range m.Notes {
		texts = append(texts, n.Text)
	}
	return strings.Join(texts, "\n\n")
}

// given notes that all was handed over with a prompt that is about to be written
// into the session's file.
func (m *loaded) given() {
	size := stampOf(m.bind.Session).size
	m.Notes = slices.Clone(m.Notes)
	for i := range m.Notes {
		n := &m.Notes[i]
		n.Given, n.From, n.Session = n.Given+1, size, m.stored.Session
	}
}

// dropTold drops the notes that the conversation shows since they were given.
func (m *loaded) dropTold() {
	m.Notes = slices.DeleteFunc(slices.Clone(m.Notes), func(n note) bool {
		switch {
		case n.Given == 0:
			return false
		case n.Given >= mostGiven:
			return true
		}
		from := n.From
		if n.Session != m.stored.Session {
			from = 0
		}
		return shows(m.bind.Session, from, n.Text)
	})
}

// shows reports whether a session's file holds a text, as JSON has it, from there
// on.
func shows(path string, from int64, text string) bool {
	f, info, err := disk.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if info.Size() < from {
		from = 0 // it was written anew
	}
	p, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	return err == nil && bytes.Contains(p, jsonText(text))
}

// jsonText is a text as agents write it into JSON, without the quotes.
func jsonText(text string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if e.Encode(text) != nil {
		return []byte(text)
	}
	return bytes.Trim(bytes.TrimSpace(out.Bytes()), `"`)
}

// noteOfFork is what the agent of a fork is told of where it is, and of the workspace of
// its source, if that is on this machine.
func noteOfFork(m, source *loaded) string {
	text := fmt.Sprintf("Umbra: you are the agent of mission %s now, a fork of mission %s, and work in %s, a copy of your own.", m.Name, source.Name, m.cwd())
	if source.bind.Workspace != "" {
		text += fmt.Sprintf(" %s is another agent's: change nothing there.", source.bind.Workspace)
	}
	return text
}

// untoldOf are the notes of a kind that a mission's agent has not been told, for
// the agent of a fork, which remembers what that one does. Where nobody can read
// whether the conversation shows a note, one that was given was told.
func untoldOf(m *loaded, kind noteKind, unread bool) (list []note) {
	for _, n := range m.Notes {
		if n.Kind == kind && !(unread && n.Given > 0) {
			list = append(list, note{Kind: kind, Text: n.Text})
		}
	}
	return list
}

// tellFork tells a fork's agent again where it works, if the conversation that the
// mission goes on in does not say it.
func (l *Local) tellFork(m *loaded) {
	up := l.forebears(m)
	if len(up) == 0 || l.adapter(m.Agent) == nil {
		return
	}
	text := noteOfFork(m, up[0])
	if !shows(m.bind.Session, 0, text) {
		m.tell(noteFork, text)
	}
}
