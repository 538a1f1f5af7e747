package updates

import (
	"slices"
	"strings"
	"unicode"

	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Queue has an update wait for a mission's agent. It is durable when Queue returns, and
// survives every process. An update whose id was queued before is not queued again. The text
// passes the redaction of secrets, and loses its control characters.
func (c *Courier) Queue(to *projects.Mission, u missions.Update) (missions.Update, error) {
	return c.queue(to, u, 0)
}

// queue is Queue of what a mission tells in a turn of its own.
func (c *Courier) queue(to *projects.Mission, u missions.Update, fromTurn int) (missions.Update, error) {
	if err := to.CheckMachine(); err != nil {
		return missions.Update{}, err
	}
	b := boxOf(to)
	if before, known := b.find(u.ID); known {
		return before.Update, nil
	}
	if u.ID == "" {
		u.ID = c.NewID()
	}
	u.Mission, u.At, u.Text, u.Topic = to.ID, c.Now(), CleanText(u.Text), CleanText(u.Topic)
	failpoint.Hit("update.queue")
	err := b.put(document{Update: u, FromTurn: fromTurn, LookFrom: endOfConversation(to)})
	failpoint.Hit("update.queued")
	return u, err
}

// find is an update of a box by its id, be it told.
func (b box) find(id string) (document, bool) {
	if id == "" {
		return document{}, false
	}
	waiting, _ := b.waiting()
	told, _ := b.told()
	all := append(waiting, told...)
	at := slices.IndexFunc(all, func(d document) bool { return d.ID == id })
	if at < 0 {
		return document{}, false
	}
	return all[at], true
}

// endOfConversation is where the next prompt of a mission is written.
func endOfConversation(m *projects.Mission) conversationOffset {
	return conversationOffset{m.Stored.Session, home.StampOf(m.Binding.SessionPath).Size}
}

// CleanText is a text as an agent and a terminal may be given it: without secrets, what
// colours a terminal, control characters, and characters that are not seen.
func CleanText(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(sessions.StripEscapes(strings.ToValidUTF8(text, "\ufffd")))
	text = strings.Map(func(r rune) rune {
		const joiner, nonJoiner = '\u200d', '\u200c' // which some scripts and emoji need
		if r != '\n' && r != '\t' && r != joiner && r != nonJoiner && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(projects.RedactReport(text))
}
