package events

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Notes are what an event asks for beside its effect on the lifecycle.
type Notes struct {
	Rule string // the rule that has decided

	// First is to reach the lifecycle before anything else: the event leaves the turn
	// that runs, or continues one that had ended.
	First missions.Event
	// Block stops the agent's prompt or tool, and says why.
	Block string
	// SecondAgent says that the event is from another agent than the mission's. Its turns
	// are not counted, and what it writes is kept. Speaks says that it lives and works.
	SecondAgent, Speaks bool
	// Ended says that the event's agent has ended.
	Ended bool
	// WithdrawHandover says that the agent goes on, whatever was to end it.
	WithdrawHandover bool
	// Hearing says how much of the event is to be remembered, and Step what becomes of
	// the mission's session if anything is.
	Hearing Hearing
	Step    SessionStep
}

// Hearing is how much of an event is remembered. Each includes the ones before it.
type Hearing int

// The hearings.
const (
	HearNothing Hearing = iota
	HearSession         // the session and the process that the event is from
	HearSign            // that the agent has reported
	HearAll             // all that the event tells
)

// SessionStep is what an event shows of the session that a mission is in.
type SessionStep int

// The steps.
const (
	StepStays   SessionStep = iota // the mission is in the event's session
	StepAside                      // the event is of a session that the mission has left
	StepReturns                    // the agent returns to a session that the mission has left
	StepBegins                     // the agent leaves the conversation for a new one
	StepMoves                      // the agent continues the conversation under another id
)

// Interpret says what an event of an agent means for a mission: the event that reaches
// missions.Transition, nil for none, and what else is to be done. It is pure: the first of
// the rules that applies decides.
func Interpret(k Known, e sessions.Event) (missions.Event, Notes) {
	s := situation{k, e}
	for _, r := range rules() {
		if !r.applies(s) {
			continue
		}
		event, notes := r.decide(s)
		notes.Rule = r.name
		if !notes.SecondAgent {
			notes.First, notes.Step = s.firstEvent(), s.sessionStep()
		}
		return event, notes
	}
	return nil, Notes{}
}

// situation is what is known, and the event that is heard.
type situation struct {
	Known
	event sessions.Event
}

// rule is one question of Interpret.
type rule struct {
	name    string
	applies func(situation) bool
	decide  func(situation) (missions.Event, Notes)
}

// rules are the questions of Interpret, in their order.
func rules() []rule {
	return []rule{
		{"a second agent speaks", situation.isFromSecondAgent, situation.hearSecondAgent},
		{"its agent has ended", situation.isFromEndedAgent, comeTooLate},
		{"Umbra is ending the agent", situation.isBlocked, situation.block},
		{"a prompt comes before a queued restore", situation.isBeforeQueued, situation.blockForQueued},
		{"the end of a session that was left", situation.endsLeftSession, situation.withdrawOnly},
		{"the end of a turn that was left", situation.endsLeftTurn, situation.withdrawOnly},
		{"a question in a session that was left", situation.isForeignQuestion, situation.withdrawOnly},
		{"a beginning in a session that was left", situation.beginsInLeftSession, situation.withdrawOnly},
		{"a report beside hooks", situation.isReportBesideHooks, hear(HearSession)},
		{"heard before", situation.isRepeat, hear(HearSign)},
		{"a session's start within a turn", situation.isStartWithinTurn, hear(HearAll)},
		{"an unknown tool's session ends under a keeper", situation.endsToolSession, situation.endToolTurn},
		{"the user may go back in the conversation", situation.mayRewind, hear(HearAll)},
		{"any other event", func(situation) bool { return true }, situation.takeLiterally},
	}
}

func comeTooLate(situation) (missions.Event, Notes) { return nil, Notes{Ended: true} }

// hear is for an event that means nothing to the lifecycle, and is remembered.
func hear(h Hearing) func(situation) (missions.Event, Notes) {
	return func(s situation) (missions.Event, Notes) {
		return nil, Notes{Hearing: h, WithdrawHandover: s.withdrawsHandover()}
	}
}

func (s situation) withdrawOnly() (missions.Event, Notes) {
	return nil, Notes{WithdrawHandover: s.withdrawsHandover()}
}

// withdrawsHandover reports whether the agent shows to go on. The end of one under a keeper
// may be that of the handover.
func (s situation) withdrawsHandover() bool {
	return continuesConversation(s.event.Kind) || !s.Process.HasKeeper
}

// isFromSecondAgent reports whether an event comes from a second agent on a conversation of
// the mission's: from another process than the mission's agent, which lives. Under a keeper
// the mission's agent is one that was launched for the mission. Until that has named its
// process, any process may be it: the keeper's child may be a script that starts it.
func (s situation) isFromSecondAgent() bool {
	switch p := s.Process; {
	case p.Speaker == SpeakerAgent:
		return false
	case !p.HasKeeper:
		return missions.HasAgent(s.Turn.Lifecycle) && p.Speaker == SpeakerOther
	default:
		return !p.LaunchedFor || p.AgentNamed && p.Speaker == SpeakerOther
	}
}

// hearSecondAgent asks for a snapshot where an event of the mission's own agent would.
func (s situation) hearSecondAgent() (missions.Event, Notes) {
	notes := Notes{SecondAgent: true}
	if s.Session.IsRepeat {
		return nil, notes
	}
	notes.Hearing = HearAll
	notes.Speaks = continuesConversation(s.event.Kind) && s.Process.SpeakerLiveness == lock.Alive
	if what := secondAgentSnapshot(s.event); what != "" {
		return missions.HintReceived{What: what}, notes
	}
	return nil, notes
}

// secondAgentSnapshot is what a snapshot is of that an event of a second agent asks for; ""
// if it asks for none.
func secondAgentSnapshot(e sessions.Event) string {
	switch {
	case e.Kind == sessions.KindPrompt:
		return missions.OneLine("prompt of a second agent", e.Prompt)
	case e.Kind == sessions.KindToolBefore && e.Writes:
		return missions.OneLine("before "+e.Tool.Name+" of a second agent", e.Tool.Target)
	case e.Kind == sessions.KindStop, e.Kind == sessions.KindError:
		return "turn of a second agent ended"
	case e.Kind == sessions.KindSessionEnd:
		return "second agent ended"
	}
	return ""
}

// isFromEndedAgent reports whether an event is from an agent whose end is known: hooks
// outlive their agent, and a slow hook revives nobody. Either the event names the process
// whose end the keeper has reported, and no other process has that pid now; or it was
// launched for the mission and found no agent above it any more. Tools that Umbra does not
// know are not looked for.
func (s situation) isFromEndedAgent() bool {
	p := s.Process
	if p.SpeakerEnded {
		return p.SpeakerLiveness != lock.Alive
	}
	_, closed := s.Turn.Lifecycle.(missions.Closed)
	return closed && p.Speaker == SpeakerUnnamed && p.LaunchedFor && !p.HadKeeper && !s.Session.Unknown
}

func (s situation) isBlocked() bool { return s.Waiting.EndingBlock != "" }

func (s situation) block() (missions.Event, Notes) { return nil, Notes{Block: s.Waiting.EndingBlock} }

// isBeforeQueued reports whether an event is a prompt by which a turn shows to be over whose
// end nobody heard, as after Esc, or was sure of, while something was queued for that end.
func (s situation) isBeforeQueued() bool {
	if s.Waiting.Queued == "" || s.event.Kind != sessions.KindPrompt {
		return false
	}
	r, running := s.Turn.Lifecycle.(missions.Running)
	return !running && missions.HasAgent(s.Turn.Lifecycle) || r.Turn > 0 && (s.event.PromptID == "" || s.event.PromptID != r.PromptID)
}

func (s situation) blockForQueued() (missions.Event, Notes) {
	return missions.TurnEnded{}, Notes{Block: fmt.Sprintf("what was queued for the end of the turn before comes first (%s): type it again then", s.Waiting.Queued)}
}

// isFromLeftSession reports whether an event is of a session that the mission has left.
func (s situation) isFromLeftSession() bool {
	return s.event.SessionID != s.Session.ID && slices.Contains(s.Session.Former, s.event.SessionID)
}

// isFromUnpromptedSession reports whether an event is of a session that was left, and that
// nobody has prompted since.
func (s situation) isFromUnpromptedSession() bool {
	return slices.Contains(s.Session.Former, s.event.SessionID) && s.Turn.Session != "" && s.Turn.Session != s.event.SessionID
}

// endsLeftSession reports whether an event is the end of a session that a keeper's mission
// has left, or is about to leave: the keeper reports the end of the agent.
func (s situation) endsLeftSession() bool {
	return s.event.Kind == sessions.KindSessionEnd && s.Process.HasKeeper && (s.Waiting.HasHandover || s.isFromLeftSession())
}

// endsLeftTurn reports whether an event is the end of a turn that was begun in a session
// which the mission has left in the middle of it, and not of the turn that runs.
func (s situation) endsLeftTurn() bool {
	_, running := s.Turn.Lifecycle.(missions.Running)
	return running && (s.event.Kind == sessions.KindStop || s.event.Kind == sessions.KindError) && s.isFromUnpromptedSession()
}

// isForeignQuestion reports whether an event is a question, or the answer to one, of a
// session that was left: the user is asked in another session. Nor is a question the
// mission's that can only be asked within a turn, and there is none.
func (s situation) isForeignQuestion() bool {
	switch s.event.Kind {
	case sessions.KindPermission:
		return s.event.Within && !missions.InTurn(s.Turn.Lifecycle) || s.isFromUnpromptedSession()
	case sessions.KindAnswered:
		return s.isFromUnpromptedSession()
	}
	return false
}

// beginsInLeftSession reports whether an event begins something in a session that was left,
// without returning to it: hooks outlive the agent that a restore has ended.
func (s situation) beginsInLeftSession() bool {
	return (s.event.Kind == sessions.KindPrompt || s.event.Kind == sessions.KindSessionStart) && s.isFromLeftSession() && !s.returnsToSession()
}

// returnsToSession reports whether the mission's agent goes on in a session that the mission
// has left, by /clear or a restore: its user has opened the session again or, where the
// agent was never taken out of it, speaks there. A turn that was left goes on without either,
// and a hook that outlives its agent says nothing of the agent that there is now.
func (s situation) returnsToSession() bool {
	e, p := s.event, s.Process
	spoken := e.Kind == sessions.KindPrompt || e.Kind == sessions.KindSessionStart && e.Source == "resume" || e.Lone
	switch {
	case !spoken || e.Agent != "" || !s.isFromLeftSession():
		return false
	case p.Speaker == SpeakerUnnamed: // it may be a late hook of the agent before, until the one that lives has spoken
		return !p.Lives || p.HasKeeper && p.HeardSinceLaunch
	}
	return p.SpeakerLiveness != lock.Gone
}

// beginsSession reports whether the agent of a mission with a keeper begins, in the same
// process, another session that it calls a first one: so Codex and OpenCode do at /new.
// OpenCode does so in the middle of a turn too, and that turn goes on beside.
func (s situation) beginsSession() bool {
	e := s.event
	return e.Kind == sessions.KindSessionStart && e.Source == "startup" && e.Agent == "" &&
		s.Session.ID != "" && e.SessionID != s.Session.ID && !slices.Contains(s.Session.Former, e.SessionID) &&
		s.Process.HasKeeper && s.Process.Speaker == SpeakerAgent
}

// firstEvent ends the turn that an agent leaves for another session, while the mission still
// has the session of that turn: the snapshot of the turn's end is to have it. Or it continues
// the turn that had ended, where the event is work at its prompt: another tool's hook has
// kept the agent from stopping.
func (s situation) firstEvent() missions.Event {
	e, inTurn := s.event, missions.InTurn(s.Turn.Lifecycle)
	switch {
	case inTurn && (s.beginsSession() || s.returnsToSession()):
		return missions.SessionBegan{}
	case !inTurn && missions.HasAgent(s.Turn.Lifecycle) && (e.Kind == sessions.KindToolBefore || e.Kind == sessions.KindPermission) &&
		e.PromptID != "" && e.PromptID == s.Turn.PromptID && e.SessionID == s.Turn.Session:
		return missions.TurnContinued{ID: e.PromptID}
	}
	return nil
}

// sessionStep says what becomes of the mission's session. A session that the mission has
// left, in which a turn may go on beside, becomes its own again where the agent returns.
func (s situation) sessionStep() SessionStep {
	switch {
	case s.event.SessionID == s.Session.ID:
		return StepStays
	case s.returnsToSession():
		return StepReturns
	case s.isFromLeftSession():
		return StepAside
	case s.event.Source == "clear" || s.beginsSession():
		return StepBegins
	}
	return StepMoves
}

// isReportBesideHooks reports whether an agent whose hooks were not trusted reports, and they
// were trusted meanwhile: they have said it.
func (s situation) isReportBesideHooks() bool { return s.event.Lone && s.Session.HasHooks }

func (s situation) isRepeat() bool { return s.Session.IsRepeat }

// isStartWithinTurn reports whether an event is the start of a session that begins nothing. A
// turn is left only by a start that is known to leave one, and goes on after its
// conversation was summed up in the middle of it.
func (s situation) isStartWithinTurn() bool {
	e := s.event
	return e.Kind == sessions.KindSessionStart && missions.InTurn(s.Turn.Lifecycle) &&
		(e.Source == "startup" || e.Source == sessions.SourceCompact) && !s.beginsSession()
}

// endsToolSession reports whether an event is the end of a session of a tool that Umbra does
// not know, in a mission with a keeper: its command may be a script or a shell that goes on,
// and the keeper reports the end of that.
func (s situation) endsToolSession() bool {
	return s.Session.Unknown && s.event.Kind == sessions.KindSessionEnd && s.Process.HasKeeper
}

func (s situation) endToolTurn() (missions.Event, Notes) {
	return missions.TurnEnded{}, Notes{Hearing: HearAll, WithdrawHandover: s.withdrawsHandover()}
}

// mayRewind reports whether the end of a session between turns may be that its user goes back
// in the conversation: such an agent goes on in another file, and reports nothing before the
// next prompt. Its keeper reports the agent's end.
func (s situation) mayRewind() bool {
	return s.Session.Segmented && s.event.Kind == sessions.KindSessionEnd && s.Process.HasKeeper &&
		!missions.InTurn(s.Turn.Lifecycle) && missions.HasAgent(s.Turn.Lifecycle)
}

func (s situation) takeLiterally() (missions.Event, Notes) {
	event, _ := lifecycleEvent(s.event)
	return correctTurnEnd(event, s.Turn.Shown), Notes{Hearing: HearAll, WithdrawHandover: s.withdrawsHandover()}
}

// continuesConversation reports whether an event is one of a conversation that goes on; any
// session that is left has an end.
func continuesConversation(k sessions.Kind) bool {
	switch k {
	case sessions.KindPrompt, sessions.KindGoesOn, sessions.KindToolBefore, sessions.KindToolAfter, sessions.KindToolBatch, sessions.KindPermission, sessions.KindAnswered:
		return true
	}
	return false
}

// lifecycleEvent is what an agent's event means for a mission's lifecycle.
func lifecycleEvent(e sessions.Event) (missions.Event, bool) {
	tool := missions.ToolUse{ID: e.Tool.ID, Name: e.Tool.Name, Target: e.Tool.Target, Description: e.Tool.Description, At: e.Tool.At}
	asked := missions.PermissionAsked{Permission: missions.Permission{ID: tool.ID, Tool: tool.Name, Target: tool.Target, At: tool.At}}
	switch e.Kind {
	case sessions.KindSessionStart:
		return missions.SessionBegan{}, e.Source != sessions.SourceCompact
	case sessions.KindPrompt:
		return missions.PromptSubmitted{Text: e.Prompt, ID: e.PromptID}, true
	case sessions.KindGoesOn:
		return missions.TurnContinued{ID: e.PromptID}, true
	case sessions.KindToolBefore:
		if e.Asks {
			return asked, true
		}
		return missions.ToolStarting{Tool: tool, Writes: e.Writes}, true
	case sessions.KindToolAfter, sessions.KindToolBatch:
		return missions.ToolFinished{Tool: tool}, true
	case sessions.KindPermission:
		return asked, true
	case sessions.KindAnswered:
		return missions.PermissionAnswered{ID: tool.ID}, true
	case sessions.KindStop:
		if e.Stopped {
			return missions.TurnStopped{}, true
		}
		return missions.TurnEnded{Background: e.Background}, true
	case sessions.KindError:
		return missions.TurnFailed{Message: projects.RedactText(e.Message)}, true
	case sessions.KindSessionEnd:
		if e.Reason == "clear" || e.Reason == "resume" {
			return nil, false // the agent goes on with another session
		}
		return missions.SessionEnded{}, true
	}
	return nil, false
}

// eventID names an event that hooks may report twice.
func eventID(e sessions.Event) string {
	switch {
	case (e.Kind == sessions.KindPrompt || e.Kind == sessions.KindGoesOn) && e.PromptID != "":
		// What is typed during a turn has that turn's id.
		text := sha1.Sum([]byte(e.Prompt))
		return e.SessionID + " " + e.PromptID + " " + hex.EncodeToString(text[:8])
	case e.Kind == sessions.KindPermission || e.Kind == sessions.KindAnswered:
		return "" // a call may be asked about more than once
	case e.Tool.ID != "" && e.Kind != sessions.KindToolBatch:
		return string(e.Kind) + " " + e.Tool.ID
	}
	return ""
}
