package missions

import (
	"cmp"
	"fmt"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/generic"
)

// isForeign reports whether an adapter is that of tools which Umbra does not know,
// and which tell it what they do.
func isForeign(a sessions.Adapter) bool {
	_, foreign := a.(sessions.Foreign)
	return foreign
}

// foreign is the adapter of such tools if that is what they are called, else nil.
func (l *Local) foreign(agent string) sessions.Adapter {
	if agent != generic.Name {
		return nil
	}
	return generic.Adapter{Dir: l.home.path("agents", generic.Name)}
}

// program is the mission's agent by the name that its user knows.
func (s *stored) program() string { return cmp.Or(s.Tool, s.Agent) }

// joins reports whether a tool that Umbra does not know may speak for a mission
// whose command is none that it knows either.
func (l *Local) joins(m *loaded, a sessions.Adapter) bool {
	return isForeign(a) && l.adapter(m.Agent) == nil
}

// mayPrompt refuses a prompt for an agent that Umbra has no way to give it to;
// program is what its user calls it.
func (l *Local) mayPrompt(agent, program, prompt string) error {
	if a := l.adapter(agent); prompt == "" || a != nil && !isForeign(a) {
		return nil
	}
	return Errorf(KindUsage, "leave it out, and put it into the command, as that takes it: -- COMMAND", "Umbra does not know how %s is given a prompt", program)
}

// introduce takes what a tool says of itself: from then on the mission is its.
func (m *loaded) introduce(a sessions.Adapter, e sessions.Event) {
	if !isForeign(a) {
		return
	}
	if m.Agent != a.Name() {
		m.Tool, m.Agent = m.Agent, a.Name()
	}
	m.Tool = cmp.Or(m.Tool, e.Program)
	switch {
	case len(e.Resume) == 0:
	case mayRecord(e.Resume) != nil:
		m.Resume = nil
	default:
		m.Resume = e.Resume
	}
}

// movable reports whether the mission's agent can go on from a copy of its
// conversation: of one that Umbra does not know, if it has said how.
func (s *stored) movable(a sessions.Adapter) bool {
	f, foreign := a.(sessions.Foreign)
	return !foreign || f.Resumable(s.Resume)
}

// unmovable is why a restore or fork leaves the conversation out.
func (s *stored) unmovable() string {
	return fmt.Sprintf("the conversation is not taken along: %s has not told Umbra how it is started on a copy of it", s.program())
}

// leavesSession reports whether an event is the end of a session of a tool that
// Umbra does not know, in a mission with a keeper: its command may be a script or
// a shell that goes on, and the keeper says when it does not.
func (m *loaded) leavesSession(a sessions.Adapter, e sessions.Event) bool {
	return isForeign(a) && e.Kind == sessions.KindSessionEnd && m.live.kept()
}

// countTold counts what a tool says of a conversation that Umbra can't read.
func (m *loaded) countTold(a sessions.Adapter, e sessions.Event) {
	if !isForeign(a) {
		return
	}
	t := Tally{}
	if m.Talk != nil {
		t = m.Talk.Tally
	}
	switch e.Kind {
	case sessions.KindPrompt:
		t.Prompts++
	case sessions.KindToolBefore:
		t.Tools++
	}
	t.Input, t.Output, t.Cost = t.Input+e.Usage.Input, t.Output+e.Usage.Output, t.Cost+e.Usage.Cost
	m.Talk = &tallied{Session: m.stored.Session, Tally: t}
	m.live.Told = m.Talk
}
