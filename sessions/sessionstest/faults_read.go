package sessionstest

import (
	"bytes"

	"github.com/umbra-vcs/umbra/sessions"
)

func readFaults() []fault {
	misread := func(how func(*sessions.Conversation)) func(whole, Subject) sessions.Adapter {
		return func(w whole, _ Subject) sessions.Adapter { return misreads{w, how} }
	}
	return []fault{
		{"with prompts", Subject.checkRead, misread(func(c *sessions.Conversation) { c.ID += "x" })},
		{"a finished conversation is", Subject.checkRead, misread(func(c *sessions.Conversation) { c.State = sessions.StateRunning })},
		{"turn 1 is [", Subject.checkRead, misread(func(c *sessions.Conversation) {
			for i := range c.Turns {
				c.Turns[i].Stop = c.Turns[i].Start
			}
		})},
		{"without an answer leaves it", Subject.checkRead, misread(func(c *sessions.Conversation) { c.State = sessions.StateIdle })},
		{"a torn line is not seen", Subject.checkRead, misread(func(c *sessions.Conversation) { c.Torn = false })},
		{"with three foreign lines", Subject.checkRead, misread(func(c *sessions.Conversation) { c.Bad = 0 })},
		{"nothing reads as", Subject.checkRead, misread(func(c *sessions.Conversation) {
			if c.Length == 0 {
				c.State = sessions.StateIdle
			}
		})},
		{"followed in pieces", Subject.checkFollow, func(w whole, _ Subject) sessions.Adapter { return losesPieces{w} }},
		{"followed from turn", Subject.checkResumed, func(w whole, s Subject) sessions.Adapter {
			if _, replaces := as[sessions.Replacing](w); replaces {
				return nil
			}
			return wantsBeginning{w, s.Transcript}
		}},
	}
}

type (
	misreads struct {
		whole
		how func(*sessions.Conversation)
	}
	losesPieces    struct{ whole }
	wantsBeginning struct {
		whole
		transcript []byte
	}
)

func (a misreads) Follow() sessions.Follower { return misreading{a.whole.Follow(), a.how} }

type misreading struct {
	sessions.Follower
	how func(*sessions.Conversation)
}

func (f misreading) Conversation() sessions.Conversation {
	c := f.Follower.Conversation()
	f.how(&c)
	return c
}

func (a losesPieces) Follow() sessions.Follower { return losing{a.whole.Follow()} }

type losing struct{ sessions.Follower }

func (f losing) Feed(p []byte) { f.Follower.Feed(p[:max(len(p)-1, 0)]) }

func (a wantsBeginning) Follow() sessions.Follower {
	return &wanting{Follower: a.whole.Follow(), transcript: a.transcript}
}

// wanting numbers turns by what it was fed, which is not all of the file.
type wanting struct {
	sessions.Follower
	transcript []byte
	wrong      bool
}

func (f *wanting) Feed(p []byte) {
	f.wrong = f.wrong || !bytes.HasPrefix(f.transcript, p)
	f.Follower.Feed(p)
}

func (f *wanting) Conversation() sessions.Conversation {
	c := f.Follower.Conversation()
	if f.wrong {
		c.Turns = nil
	}
	return c
}
