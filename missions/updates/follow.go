package updates

import (
	"errors"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// Requeue has updates wait again that a restore has taken out of a mission's conversation:
// the session before, with the file at path, shows them, and the session of now does not. An
// undo of the restore needs nothing: where the conversation shows an update, it is delivered.
// What the user has left behind with /clear, or cleared, stays so.
func (c *Courier) Requeue(m *projects.Mission, path string) {
	b := boxOf(m)
	told, err := b.told()
	if len(told) == 0 {
		c.warn(m, err)
		return
	}
	before, now := shownInFile(path, 0), shownInFile(m.Binding.SessionPath, 0)
	errs := []error{err}
	for _, d := range told {
		if d.DeliveredAt.IsZero() || !before[d.ID] || now[d.ID] {
			continue
		}
		d.DeliveredAt, d.GivenAt, d.Unconfirmed, d.UnseenTurns = time.Time{}, time.Time{}, false, 0
		d.LookFrom = endOfConversation(m)
		errs = append(errs, b.putBack(d))
	}
	c.warn(m, errors.Join(errs...))
}

// Peek gives a fork that is being made what its source's agent is still to be told, since the
// fork goes on as the source would. The source's updates stay.
func (c *Courier) Peek(source *projects.Mission, fork string) error {
	b := box{source.Project.Dir, fork}
	for _, d := range c.unseen(source) {
		d.Mission, d.Peeked = fork, true
		d.Round, d.Unconfirmed, d.UnseenTurns, d.LookFrom = 0, false, 0, conversationOffset{}
		if err := b.put(d); err != nil {
			return err
		}
	}
	return nil
}

// Discard removes the updates of a fork that was not made.
func (c *Courier) Discard(p *projects.Project, fork string) error {
	return os.RemoveAll(box{p.Dir, fork}.waitingDir())
}
