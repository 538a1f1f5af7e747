package projects

import (
	"cmp"
	"fmt"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/generic"
)

// IsForeignAdapter reports whether an adapter is that of tools which Umbra does not know,
// and which tell it what they do.
func IsForeignAdapter(a sessions.Adapter) bool {
	_, foreign := a.(sessions.Foreign)
	return foreign
}

// foreignAdapter is the adapter of such tools if that is what they are called, else nil.
func (s *AdapterSet) foreignAdapter(agent string) sessions.Adapter {
	if agent != generic.Name {
		return nil
	}
	return generic.Adapter{Dir: s.Home.Path("agents", generic.Name)}
}

// CanToolJoin reports whether a tool that Umbra does not know may speak for a mission
// whose command is none that it knows either.
func (s *AdapterSet) CanToolJoin(m *Mission, a sessions.Adapter) bool {
	return IsForeignAdapter(a) && s.Adapter(m.Agent) == nil
}

// CheckPrompt refuses a prompt for an agent that Umbra has no way to give it to;
// program is what its user calls it.
func (s *AdapterSet) CheckPrompt(agent, program, prompt string) error {
	if a := s.Adapter(agent); prompt == "" || a != nil && !IsForeignAdapter(a) {
		return nil
	}
	return missions.Errorf(missions.KindUsage, "leave it out, and put it into the command, as that takes it: -- COMMAND",
		"Umbra does not know how %s is given a prompt", program)
}

// CheckHeadless refuses an agent that can't be launched without a terminal, with a prompt
// to answer; program is its name for people.
func (s *AdapterSet) CheckHeadless(agent, program string) error {
	if _, ok := s.Adapter(agent).(sessions.Headless); ok {
		return nil
	}
	return missions.Errorf(missions.KindUsage, "umbra fork -- COMMAND runs any command in a fork",
		"Umbra does not know how %s answers a prompt without a terminal", program)
}

// IsHeadless reports whether a command runs its agent without a terminal, as claude --print does.
func (s *AdapterSet) IsHeadless(agent string, command []string) bool {
	h, ok := s.Adapter(agent).(sessions.Headless)
	if !ok {
		return false
	}
	_, already := h.Headless(command)
	return already
}

// CheckModel refuses a model where Umbra does not know how the agent is told of it.
func (s *AdapterSet) CheckModel(agent, program, model string) error {
	if _, ok := s.Adapter(agent).(sessions.Modelled); ok || model == "" {
		return nil
	}
	return missions.Errorf(missions.KindUsage, "leave --model out", "Umbra does not know how %s is told its model", program)
}

// AgentName is the mission's agent by the name that its user knows.
func (s *Stored) AgentName() string { return cmp.Or(s.ToolName, s.Agent) }

// CanCopyConversation reports whether the mission's agent can go on from a copy of its
// conversation: of one that Umbra does not know, if it has said how.
func (s *Stored) CanCopyConversation(a sessions.Adapter) bool {
	f, foreign := a.(sessions.Foreign)
	return !foreign || f.Resumable(s.ResumeCommand)
}

// NoCopyReason is why a restore or fork leaves the conversation out.
func (s *Stored) NoCopyReason() string {
	return fmt.Sprintf("the conversation is not taken along: %s has not told Umbra how it is started on a copy of it", s.AgentName())
}

// TakeToolName takes what a tool says of itself: from then on the mission is its.
func (m *Mission) TakeToolName(a sessions.Adapter, e sessions.Event) {
	if !IsForeignAdapter(a) {
		return
	}
	if m.Agent != a.Name() {
		m.ToolName, m.Agent = m.Agent, a.Name()
	}
	m.ToolName = cmp.Or(m.ToolName, e.Program)
	switch {
	case len(e.Resume) == 0:
	case MayRecord(e.Resume) != nil:
		m.ResumeCommand = nil
	default:
		m.ResumeCommand = e.Resume
	}
}

// IsToolSessionEnd reports whether an event is the end of a session of a tool that
// Umbra does not know, in a mission with a keeper: its command may be a script or
// a shell that goes on, and the keeper says when it does not.
func (m *Mission) IsToolSessionEnd(a sessions.Adapter, e sessions.Event) bool {
	return IsForeignAdapter(a) && e.Kind == sessions.KindSessionEnd && m.Live.HasKeeper()
}

// CountToolEvent counts what a tool says of a conversation that Umbra can't read.
func (m *Mission) CountToolEvent(a sessions.Adapter, e sessions.Event) {
	if !IsForeignAdapter(a) {
		return
	}
	t := missions.Tally{}
	if m.Tally != nil {
		t = m.Tally.Total
	}
	switch e.Kind {
	case sessions.KindPrompt:
		t.Prompts++
	case sessions.KindToolBefore:
		t.Tools++
	}
	t.Input, t.Output, t.Cost = t.Input+e.Usage.Input, t.Output+e.Usage.Output, t.Cost+e.Usage.Cost
	m.Tally = &TallyProgress{Session: m.Stored.Session, Total: t}
	m.Live.HookTally = m.Tally
}
