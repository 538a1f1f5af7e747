package updates

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Follow has the updates follow a mission to another conversation, which a restore has given
// it; copied is the session that the conversation is a copy of, "" for none.
//
// What the conversation before shows, and that of now does not, waits again: the agent no
// longer knows it. What is from the session that was copied, as that of a promoted fork, the
// agent has said itself; so it has in each copy of that copy, and where an undo or a redo
// returns to one. Where the conversation shows an update, it is delivered. What the user has
// left with /clear, or cleared, stays so.
func (c *Courier) Follow(m *projects.Mission, op projects.Operation, copied string) {
	b, now := boxOf(m), m.Stored.Session
	if parent, _ := c.parentOf(m); parent != nil {
		c.NoteCopy(parent, copied, now, false)
	}
	told, err := b.told()
	c.warn(m, err)
	for _, d := range c.waiting(m) {
		c.warn(m, b.claim(d, now, copied))
		if b.isOwn(d, now) {
			d.DeliveredAt = c.Now()
			c.warn(m, b.retire(d))
		}
	}
	if len(told) == 0 {
		return
	}
	shownBefore, shown := shownInFile(op.SessionBeforePath, 0), shownInFile(m.Binding.SessionPath, 0)
	for _, d := range told {
		c.warn(m, b.claim(d, now, copied))
		known := shown[d.ID] || b.isOwn(d, now)
		if !d.DeliveredAt.IsZero() && !known && (shownBefore[d.ID] || b.isOwn(d, op.SessionBefore)) {
			d.DeliveredAt, d.GivenAt, d.Unconfirmed, d.UnseenTurns = time.Time{}, time.Time{}, false, 0
			d.LookFrom = endOfConversation(m)
			c.warn(m, b.putBack(d))
		}
	}
}

// NoteCopy notes that the conversation of a mission, or of a fork of it, was copied: the agent
// of the copy has said whatever the agent of the copied conversation has said itself. So a
// promotion of the copy tells none of it again, to the mission or to one that it descends from.
// An update that is from the copied conversation itself counts only if the copy is whole, since
// a shorter copy may end before what the update tells.
//
// It takes no lock: each note is a file of its own, and the update itself stays as it is for
// whoever tells it meanwhile.
func (c *Courier) NoteCopy(m *projects.Mission, copied, made string, isWhole bool) {
	for m != nil {
		b := boxOf(m)
		told, err := b.told()
		c.warn(m, err)
		for _, d := range append(c.waiting(m), told...) {
			if isWhole || b.isOwn(d, copied) {
				c.warn(m, b.claim(d, made, copied))
			}
		}
		m, _ = c.parentOf(m) // nil: no fork, or its parent was removed and is told nothing
	}
}

// claim notes that the agent of a session has said an update itself, if the session is a copy
// of the one that the update is from, or of another such copy.
func (b box) claim(d document, session, copied string) error {
	isCopy := copied != "" && (d.FromSession == copied || b.isOwn(d, copied))
	if session == "" || !isCopy || b.isOwn(d, session) {
		return nil
	}
	return journal.WriteBelow(b.project, b.ownFile(d, session), 0o600, []byte(session+"\n"))
}

// isOwn reports whether the agent of a session, of the recipient or of a fork of it, has said
// an update itself.
func (b box) isOwn(d document, session string) bool {
	_, err := os.Lstat(b.ownFile(d, session))
	return session != "" && err == nil
}

// ownFile is the file whose presence says that the agent of a session has said an update
// itself. A session's id can be any text, and so is no name of a file.
func (b box) ownFile(d document, session string) string {
	return filepath.Join(b.project, projects.UpdatesDir, "own", b.mission, fmt.Sprintf("%s.%x", d.ID, sha256.Sum256([]byte(session))))
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
