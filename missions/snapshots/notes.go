package snapshots

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

const (
	NoteFork    projects.NoteKind = "fork"    // where it works
	NoteRestore projects.NoteKind = "restore" // that files have changed beneath it
	NoteNotDone projects.NoteKind = "undone"  // that what was queued could not be done
)

// maxTimesGiven is how often a note is given at most. Otherwise an agent that does not
// write down what its hooks say would be told for ever.
const maxTimesGiven = 2

// SetNote adds a note in place of the older note of its kind. An empty text only takes
// the older note away.
func SetNote(m *projects.Mission, kind projects.NoteKind, text string) {
	m.Notes = slices.DeleteFunc(slices.Clone(m.Notes), func(n projects.Note) bool { return n.Kind == kind })
	if text != "" {
		m.Notes = append(m.Notes, projects.Note{Kind: kind, Text: text})
	}
}

// NotesText is what the agent is told with the next prompt.
func NotesText(m *projects.Mission) string {
	var texts []string
	for _, n := range m.Notes {
		texts = append(texts, n.Text)
	}
	return strings.Join(texts, "\n\n")
}

// MarkNotesGiven notes that all notes were given with a prompt. The agent is about to
// write the prompt into the session's file.
func MarkNotesGiven(m *projects.Mission) {
	size := home.StampOf(m.Binding.SessionPath).Size
	m.Notes = slices.Clone(m.Notes)
	for i := range m.Notes {
		n := &m.Notes[i]
		n.TimesGiven, n.FileOffset, n.Session = n.TimesGiven+1, size, m.Stored.Session
	}
}

// DropToldNotes drops the notes that the conversation shows since they were given.
func DropToldNotes(m *projects.Mission) {
	m.Notes = slices.DeleteFunc(slices.Clone(m.Notes), func(n projects.Note) bool {
		switch {
		case n.TimesGiven == 0:
			return false
		case n.TimesGiven >= maxTimesGiven:
			return true
		}
		from := n.FileOffset
		if n.Session != m.Stored.Session {
			from = 0
		}
		return sessionContains(m.Binding.SessionPath, from, n.Text)
	})
}

// sessionContains reports whether a session's file holds a text, as JSON writes it, at
// an offset or after it.
func sessionContains(path string, from int64, text string) bool {
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

// ForkNote tells the agent of a fork where it works, and where its source works if that
// is on this machine.
func ForkNote(m, source *projects.Mission) string {
	if m.Binding.Lodging != nil {
		return fmt.Sprintf("Umbra: you are the agent of mission %s now, a fork of mission %s, and work in its workspace %s. "+
			"When you are left, the files there are put back as they are now, unless what you did is promoted.", m.Name, source.Name, source.Cwd())
	}
	text := fmt.Sprintf("Umbra: you are the agent of mission %s now, a fork of mission %s, and work in %s, a copy of your own.", m.Name, source.Name, m.Cwd())
	if source.Binding.Workspace != "" {
		text += fmt.Sprintf(" %s is another agent's: change nothing there.", source.Binding.Workspace)
	}
	return text
}

// UntoldNotes are the notes of a kind that a mission's agent has not been told. The
// agent of a fork remembers what this agent does, so it is told them too. Where nobody
// can read whether the conversation shows a note, a note that was given counts as told.
func UntoldNotes(m *projects.Mission, kind projects.NoteKind, unread bool) (list []projects.Note) {
	for _, n := range m.Notes {
		if n.Kind == kind && !(unread && n.TimesGiven > 0) {
			list = append(list, projects.Note{Kind: kind, Text: n.Text})
		}
	}
	return list
}

// NoteForkAgain tells a fork's agent again where it works, if its new conversation does
// not say it.
func (tk *Taker) NoteForkAgain(m *projects.Mission) {
	up := tk.ForkAncestors(m)
	if len(up) == 0 || tk.Adapter(m.Agent) == nil {
		return
	}
	text := ForkNote(m, up[0])
	if !sessionContains(m.Binding.SessionPath, 0, text) {
		SetNote(m, NoteFork, text)
	}
}
