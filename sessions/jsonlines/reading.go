package jsonlines

import "github.com/umbra-vcs/umbra/sessions"

// Reading is what all parsers of a growing conversation have in common; each has one, and is
// a sessions.Follower by it.
type Reading struct {
	Conv  sessions.Conversation // what has been read so far
	Keeps bool                  // what tools gave back
	split Splitter
}

// Begin says what reads a line that starts and ends at these places, and reports whether it is
// one of the agent's.
func (r *Reading) Begin(line func(b []byte, start, stop int64) bool) {
	r.Conv.State = sessions.StateEmpty
	r.split.Line = func(b []byte, start int64) error {
		switch {
		case len(b) == 0:
		case line(b, start, start+int64(len(b))+1):
			r.Conv.Events++
		default:
			r.Conv.Bad++
		}
		return nil
	}
}

// KeepOutput implements sessions.OutputKeeping.
func (r *Reading) KeepOutput() { r.Keeps = true }

// Feed implements sessions.Follower.
func (r *Reading) Feed(b []byte) { _ = r.split.Feed(b) } // a line never fails

// Conversation implements sessions.Follower; later feeds do not change it.
func (r *Reading) Conversation() sessions.Conversation {
	c := r.Conv.Clone()
	c.Length, c.Torn = r.split.Offset, r.split.Torn()
	return c
}

// Last is the last turn, nil if there is none.
func (r *Reading) Last() *sessions.Turn {
	if len(r.Conv.Turns) == 0 {
		return nil
	}
	return &r.Conv.Turns[len(r.Conv.Turns)-1]
}
