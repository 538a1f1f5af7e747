package updates

import (
	"errors"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

const (
	// maxUnseenTurns is in how many turns an update is carried by an agent that Umbra
	// knows, and the conversation does not show it. Each version that was tried shows it;
	// another might not, and would be told for ever.
	maxUnseenTurns = 3
	// maxUnseenTurnsOfForgetful is that of an agent that is known not to write down what its
	// hooks say, and of a tool whose conversation Umbra can't read. It has answered the turn,
	// and so was told.
	maxUnseenTurnsOfForgetful = 1
)

// Delivery is what one prompt of a mission's agent carries.
type Delivery struct {
	Context string // for the model
	Notice  string // the same for the agent's user, who is not shown the context

	box     box
	carried []document
	from    conversationOffset
}

// Waiting are the updates for a mission that its agent has not been told. What can't be read
// is logged.
func (c *Courier) Waiting(m *projects.Mission) (list []missions.Update) {
	for _, d := range c.unseen(m) {
		list = append(list, d.Update)
	}
	return list
}

// unseen are the updates that wait, without those that the conversation shows already.
func (c *Courier) unseen(m *projects.Mission) (list []document) {
	waiting := c.waiting(m)
	shown := shownIn(m, waiting)
	for _, d := range waiting {
		if !shown[d.ID] {
			list = append(list, d)
		}
	}
	return list
}

func (c *Courier) waiting(m *projects.Mission) []document {
	list, err := boxOf(m).waiting()
	if err != nil {
		c.Logger.Warn("read updates", "mission", m.ID, "error", err)
	}
	return list
}

// Settle notes which updates the conversation shows by now: they are delivered. turnEnded
// says that the turn of the agent's last prompt is over. The caller holds the mission.
func (c *Courier) Settle(m *projects.Mission, turnEnded bool) {
	waiting := c.waiting(m)
	if len(waiting) == 0 {
		return
	}
	most := maxUnseenTurns
	if turnEnded && c.isForgetful(m) {
		most = maxUnseenTurnsOfForgetful
	}
	shown, b := shownIn(m, waiting), boxOf(m)
	var errs []error
	for _, d := range waiting {
		counts := turnEnded && d.Unconfirmed
		if counts {
			d.Unconfirmed, d.UnseenTurns = false, d.UnseenTurns+1
		}
		switch {
		case shown[d.ID] || d.UnseenTurns >= most:
			d.DeliveredAt = d.deliveryTime(c.Now())
			errs = append(errs, b.retire(d))
		case counts:
			errs = append(errs, b.put(d))
		}
	}
	c.warn(m, errors.Join(errs...))
}

// isForgetful reports whether the conversation of a mission's agent is known not to show what
// the agent's hooks say.
func (c *Courier) isForgetful(m *projects.Mission) bool {
	a := c.Adapter(m.Agent)
	f, ok := a.(sessions.Forgetting)
	return projects.IsForeignAdapter(a) || ok && f.Forgets(m.Binding.SessionPath)
}

// deliveryTime is when an update came that the conversation shows. A prompt of this mission
// gave it, or one of a fork that was promoted since: then it counts from now.
func (d *document) deliveryTime(now time.Time) time.Time {
	if d.GivenAt.IsZero() {
		return now
	}
	return d.GivenAt
}

// Prepare is what the agent's next prompt is to carry behind other context; nil if nothing
// waits. What the prompt shows already, as one that Umbra has launched the
// agent with, is not carried twice.
func (c *Courier) Prepare(m *projects.Mission, prompt, before string) *Delivery {
	var list []document
	inPrompt := shownInText(prompt)
	for _, d := range c.unseen(m) {
		if !inPrompt[d.ID] {
			list = append(list, d)
		}
	}
	if len(list) == 0 {
		return nil
	}
	d := &Delivery{box: boxOf(m), from: endOfConversation(m)}
	d.Context, d.carried = blockForAgent(m, before, list)
	d.Notice = noticeForUser(m, d.carried, len(list)-len(d.carried))
	return d
}

// MarkGiven notes that the agent is given them now. Whether it takes them, its conversation
// shows: the hook, or the agent, may be killed first.
func (c *Courier) MarkGiven(m *projects.Mission, d *Delivery) {
	var errs []error
	failpoint.Hit("update.give")
	for _, doc := range d.carried {
		doc.GivenAt, doc.Unconfirmed, doc.LookFrom = c.Now(), true, d.from
		errs = append(errs, d.box.put(doc))
	}
	failpoint.Hit("update.given")
	c.warn(m, errors.Join(errs...))
}

func (c *Courier) warn(m *projects.Mission, err error) {
	if err != nil {
		c.Logger.Warn("note what became of updates", "mission", m.ID, "error", err)
	}
}
