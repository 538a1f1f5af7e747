package updates

import (
	"errors"
	"os"
	"time"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// Follow has the updates follow a mission to another conversation, which a restore has given
// it; before is the file of the one before, and copied the session that it is a copy of, ""
// for none.
//
// What the conversation before shows, and that of now does not, waits again: the agent no
// longer knows it. What is from the session that was copied, as that of a promoted fork, the
// agent has said itself. An undo needs nothing else: where the conversation shows an update,
// it is delivered. What the user has left with /clear, or cleared, stays so.
func (c *Courier) Follow(m *projects.Mission, before, copied string) {
	b := boxOf(m)
	told, err := b.told()
	c.warn(m, errors.Join(err, c.retireOwn(m, copied)))
	if len(told) == 0 {
		return
	}
	shownBefore, shown := shownInFile(before, 0), shownInFile(m.Binding.SessionPath, 0)
	for _, d := range told {
		if d.DeliveredAt.IsZero() || shown[d.ID] || d.isFrom(copied) || !shownBefore[d.ID] && !d.Promoted {
			continue
		}
		d.DeliveredAt, d.GivenAt, d.Unconfirmed, d.UnseenTurns, d.Promoted = time.Time{}, time.Time{}, false, 0, false
		d.LookFrom = endOfConversation(m)
		c.warn(m, b.putBack(d))
	}
}

// retireOwn notes that the updates from a session are delivered: it is the mission's now.
func (c *Courier) retireOwn(m *projects.Mission, session string) (err error) {
	for _, d := range c.waiting(m) {
		if d.isFrom(session) {
			d.DeliveredAt, d.Promoted = c.Now(), true
			err = errors.Join(err, boxOf(m).retire(d))
		}
	}
	return err
}

// isFrom reports whether an update is from a session.
func (d *document) isFrom(session string) bool { return session != "" && d.FromSession == session }

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
