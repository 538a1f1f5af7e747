package missions

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// privateCommand is a command line with secrets in it. Records, which may be given away,
// have it without them; it is in the home alone.
type privateCommand struct {
	Recorded []string `json:"recorded"` // as the record has it
	Whole    []string `json:"whole"`
}

// putStored writes the mission into a record, its command without secrets. The whole one
// is noted first, since an earlier record of a published mission may have been the only
// place where it is.
func (l *Local) putStored(t *gitstore.RecordTree, m *loaded) error {
	s := m.stored
	s.Command = jsontext.RedactCommand(m.Command)
	if !m.record.IsZero() && m.keepPrivate() {
		if err := l.notePrivate(m); err != nil {
			return err
		}
	}
	return writeDoc(t, missionDoc, s)
}

// keepPrivate puts the whole command into what is known beside the record, if it has a
// secret, and reports whether it was not there. The one before stays beside it: the
// record may be of the one or of the other when a process is killed.
func (m *loaded) keepPrivate() bool {
	recorded := jsontext.RedactCommand(m.Command)
	if slices.Equal(recorded, m.Command) {
		return false
	}
	known := m.live.Private
	if len(known) > 0 && slices.Equal(known[0].Recorded, recorded) && slices.Equal(known[0].Whole, m.Command) {
		return false
	}
	m.live.Private = append([]privateCommand{{recorded, slices.Clone(m.Command)}}, known[:min(1, len(known))]...)
	return true
}

// notePrivate notes the whole command alone: what else is known may not be true yet.
func (l *Local) notePrivate(m *loaded) error {
	var known live
	if raw, err := l.journal.Live(m.ID); err == nil && json.Unmarshal(raw, &known) != nil {
		known = live{}
	}
	known.Private = m.live.Private
	p, err := json.Marshal(known)
	if err != nil {
		return err
	}
	return l.journal.PutLive(m.ID, p)
}

// takePrivate makes the mission's command the whole one, where that is known.
func (m *loaded) takePrivate() {
	for _, p := range m.live.Private {
		if slices.Equal(p.Recorded, m.Command) {
			m.Command = p.Whole
			return
		}
	}
}

// withoutSecrets reports whether a command is one whose secrets are not known here.
func withoutSecrets(command []string) bool {
	return slices.ContainsFunc(command, func(word string) bool { return secrets.Count([]byte(word)) > 0 })
}

// mayRun refuses a command without its secrets: they are in no record, and where a home
// is another one, or what is known beside the record was lost, they are nowhere.
func (m *loaded) mayRun(command []string) error {
	if !withoutSecrets(command) {
		return nil
	}
	return Errorf(KindConflict, "umbra mission resume "+m.Name+" -- COMMAND…", "the command of mission %s had secrets in it that are not known here: %s", m.Name, strings.Join(command, " "))
}
