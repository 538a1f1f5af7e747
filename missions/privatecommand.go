package missions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// privateCommand is a command line with secrets in it. Records, which may be given away,
// have it without them; it is in the home alone.
type privateCommand struct {
	Recorded []string `json:"recorded"` // as the record has it
	Whole    []string `json:"whole"`
}

func (p privateCommand) equal(o privateCommand) bool {
	return slices.Equal(p.Recorded, o.Recorded) && slices.Equal(p.Whole, o.Whole)
}

// privateDoc is what the journal keeps of a mission beside its records, durably.
type privateDoc struct {
	Format   int              `json:"format"`
	Commands []privateCommand `json:"commands"` // the newest first
}

// privateFormat is the version of that document.
const privateFormat = 1

// privateCommands reads the commands that are kept of a mission. None are fs.ErrNotExist;
// what can't be read, or is of a newer version, is a *journal.DamagedError.
func (l *Local) privateCommands(mission string) ([]privateCommand, error) {
	raw, err := l.journal.Private(mission)
	if err != nil {
		return nil, err
	}
	var doc privateDoc
	err = json.Unmarshal(raw, &doc)
	if err == nil && doc.Format > privateFormat {
		err = journal.ErrNewer
	}
	if err != nil {
		path, _ := l.journal.PrivateFile(mission) // its id is one: it was read
		return nil, &journal.DamagedError{Path: path, Err: err}
	}
	return doc.Commands, nil
}

// spoiled reports whether an error says that what is kept is damaged, and not just that it
// can't be read now, or here.
func spoiled(err error) (*journal.DamagedError, bool) {
	damaged, is := errors.AsType[*journal.DamagedError](err)
	return damaged, is && !errors.Is(err, journal.ErrNewer)
}

func (l *Local) putPrivateCommands(mission string, commands []privateCommand) error {
	raw, err := json.Marshal(privateDoc{privateFormat, commands})
	if err != nil {
		return err
	}
	return l.journal.PutPrivate(mission, raw)
}

// putStored writes the mission into a record, its command without secrets. The whole one
// is kept first: no ref may lead to a record whose secrets are nowhere.
func (l *Local) putStored(t *gitstore.RecordTree, m *loaded) error {
	s := m.stored
	var err error
	if s.Command, err = l.keepCommand(m); err != nil {
		return Errorf(KindFailed, "", "keep the command of %s: %w", m.Name, err)
	}
	return writeDoc(t, missionDoc, s)
}

// keepCommand keeps the whole command, durably, if it has secrets and is not kept, and
// returns it without them. That of the newest record stays beside it: a process may be
// killed before there is another. What is damaged is set aside and not written over.
func (l *Local) keepCommand(m *loaded) (recorded []string, err error) {
	now := privateCommand{jsontext.RedactCommand(m.Command), slices.Clone(m.Command)}
	switch {
	case withoutSecrets(m.Command): // they are not known here
		return now.Recorded, nil
	case slices.Equal(now.Recorded, now.Whole):
		l.forgetting(m, l.dropOutdated(m))
		return now.Recorded, nil
	case slices.ContainsFunc(m.private, now.equal):
		l.forgetting(m, l.keepOnly(m, now))
		return now.Recorded, nil
	}
	known, err := l.privateCommands(m.ID)
	if damaged, is := spoiled(err); is {
		_, err = l.journal.MoveAside(damaged)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	commands := []privateCommand{now}
	for _, p := range append(known, m.live.Private...) {
		if slices.Equal(p.Recorded, m.recorded) && !slices.Equal(p.Recorded, now.Recorded) {
			commands = append(commands, p)
			break
		}
	}
	if err := l.putPrivateCommands(m.ID, commands); err != nil {
		return nil, err
	}
	m.private, m.live.Private, m.unread = commands, nil, nil
	return now.Recorded, nil
}

// forgetting logs why former commands of a mission are still kept: no snapshot fails for
// what is only tidied up with it.
func (l *Local) forgetting(m *loaded, err error) {
	if err != nil {
		l.log.Warn("forget former commands", "mission", m.ID, "error", err)
	}
}

// keepOnly drops the commands that are neither the one of now nor the newest record's.
func (l *Local) keepOnly(m *loaded, now privateCommand) error {
	commands := slices.DeleteFunc(slices.Clone(m.private), func(p privateCommand) bool {
		return !p.equal(now) && (slices.Equal(p.Recorded, now.Recorded) || !slices.Equal(p.Recorded, m.recorded))
	})
	if len(commands) == len(m.private) {
		return nil
	}
	m.private = commands
	return l.putPrivateCommands(m.ID, commands)
}

// dropOutdated drops what is kept of a mission whose command has no secrets, nor has the
// newest record's.
func (l *Local) dropOutdated(m *loaded) error {
	if withoutSecrets(m.recorded) {
		return nil
	}
	path, err := l.journal.PrivateFile(m.ID)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return l.journal.DropPrivate(m.ID)
}

// takeCommand makes the mission's command the whole one, where that is known.
func (l *Local) takeCommand(m *loaded) {
	m.recorded = m.Command
	if !withoutSecrets(m.Command) {
		return
	}
	m.private, m.unread = l.privateCommands(m.ID)
	if errors.Is(m.unread, fs.ErrNotExist) {
		m.unread = nil
	}
	for _, p := range slices.Concat(m.private, m.live.Private) {
		if slices.Equal(p.Recorded, m.Command) {
			m.Command, m.unread = p.Whole, nil
			return
		}
	}
}

// dropCommand removes what was kept of a mission that has not begun; of an adopted one
// nothing is. Only a ref that is known not to exist says so (H3).
func (l *Local) dropCommand(p *project, n newMission) error {
	if n.adopted {
		return nil
	}
	if _, err := p.store.Ref(gitstore.AgentRef(n.id)); !errors.Is(err, gitstore.ErrRefNotFound) {
		return err
	}
	return l.journal.DropPrivate(n.id)
}

// movePrivate keeps what an earlier Umbra has noted in the live state, which may be lost.
func (l *Local) movePrivate(m *loaded) error {
	if len(m.live.Private) == 0 {
		return nil
	}
	known, err := l.privateCommands(m.ID)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	commands := slices.DeleteFunc(slices.Clone(m.live.Private), func(p privateCommand) bool {
		return slices.ContainsFunc(known, func(k privateCommand) bool { return slices.Equal(k.Recorded, p.Recorded) })
	})
	if len(commands) > 0 {
		err = l.putPrivateCommands(m.ID, append(commands, known...))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	m.live.Private = nil
	return nil
}

// withoutSecrets reports whether a command is one whose secrets are not known here.
func withoutSecrets(command []string) bool {
	return slices.ContainsFunc(command, func(word string) bool { return secrets.Count([]byte(word)) > 0 })
}

// mayRun refuses a command without its secrets: they are in no record, and in another
// home, or where the trash was emptied, they are nowhere.
func (m *loaded) mayRun(command []string) error {
	if !withoutSecrets(command) {
		return nil
	}
	if _, is := spoiled(m.unread); is {
		return Errorf(KindDamaged, m.givenAnew(), "%s", m.commandUnread())
	}
	if m.unread != nil {
		return Errorf(KindFailed, "try again when it can be read", "%s", m.commandUnread())
	}
	return Errorf(KindConflict, m.givenAnew(), "the command of mission %s had secrets in it that are not known here: %s", m.Name, strings.Join(command, " "))
}

// givenAnew is what gives the mission its command again.
func (m *loaded) givenAnew() string { return "umbra mission resume " + m.Name + " -- COMMAND…" }

// commandUnread says that the secrets of the mission's command can't be read, "" if
// they can.
func (m *loaded) commandUnread() string {
	if m.unread == nil {
		return ""
	}
	return fmt.Sprintf("the command of mission %s has secrets in it that can't be read: %v", m.Name, m.unread)
}
