// Package sessionstest is the contract suite of sessions.Adapter: what missions
// relies on, checked on real transcripts of an agent. It knows no agent, and
// must not be imported but by tests.
package sessionstest

import (
	"fmt"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// Subject is an adapter and what its agent really wrote and said.
type Subject struct {
	Adapter sessions.Adapter
	Command []string // starts the agent
	Spoken  bool     // its client joins the words of a prompt, which need not be one argument
	Env     sessions.Environ

	Transcript []byte // a conversation that ended with an answer
	ID, Cwd    string // as its lines say
	Prompts    []string
	Unanswered []byte // lines of one more prompt, to follow Transcript

	Payloads    map[sessions.Kind][]byte // hook payloads
	Settings    [][]byte                 // settings files without Umbra's hooks
	HookCommand string
}

// Test fails t for each thing that the subject's adapter does not keep to.
func Test(t *testing.T, s Subject) {
	t.Helper()
	for _, err := range s.Check() {
		t.Error(err)
	}
}

// Check returns what the adapter does not keep to.
func (s Subject) Check() []error {
	r := &report{}
	s.checkFollow(r)
	s.checkSides(r)
	s.checkEvents(r)
	s.checkReply(r)
	if a, foreign := as[sessions.Foreign](s.Adapter); foreign {
		s.checkForeign(r, a)
		s.checkTold(r, a)
		return r.problems
	}
	s.checkIdentity(r)
	s.checkPlace(r)
	s.checkRead(r)
	s.checkResumed(r)
	s.checkCut(r)
	s.checkCutAfter(r)
	s.checkRewrite(r)
	s.checkLaunch(r)
	s.checkSettings(r)
	s.checkConfigured(r)
	return r.problems
}

type report struct{ problems []error }

func (r *report) bad(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf(format, args...))
}
