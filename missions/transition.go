package missions

import (
	"slices"
	"time"
)

// Event is something that happened to a mission's agent: one of the types
// below.
type Event interface{ event() }

// SessionBegan is an agent that opens a session, a new one or an earlier one, and
// waits for its user.
type SessionBegan struct{}

// AgentLaunched is the start of the agent's process. Hooked agents say themselves
// when a turn begins; the others count as running until they are quiet. Spoken
// says that the agent was heard in a turn before its keeper told of its start.
type AgentLaunched struct{ HasHooks, HeardBefore bool }

// PromptSubmitted is the user's prompt, before the model has seen it.
type PromptSubmitted struct{ Text, ID string }

// ToolStarting is a tool about to run. Writes says that it can change files.
type ToolStarting struct {
	Tool   ToolUse
	Writes bool
}

// ToolFinished is a tool's end.
type ToolFinished struct{ Tool ToolUse }

// PermissionAsked is a question of the agent to its user.
type PermissionAsked struct{ Permission Permission }

// PermissionAnswered is an answer to what the agent has asked about the call with that
// id, and without one to all: it works again.
type PermissionAnswered struct{ ID string }

// TurnEnded is the end of the agent's answer. Background says that work of the
// turn goes on.
type TurnEnded struct{ Background bool }

// TurnFailed is an answer that ended in an error.
type TurnFailed struct{ Message string }

// TurnStopped is a turn that its user interrupted.
type TurnStopped struct{}

// TurnContinued is work of an agent whose turn has ended: another tool's hook has kept it from
// stopping, what it left in the background has reported, or it sums its conversation up.
// It belongs to that turn. ID is that of the prompt that it works at, as its events will
// have it; "" where that is as it was. Seen says that this was seen, and no event of the
// agent's told of it: it may as well come to nothing.
type TurnContinued struct {
	ID   string
	Seen bool
}

// TurnsCounted says up to which turn the conversation of an agent without hooks is: nothing
// told of their beginnings.
type TurnsCounted struct{ Turn int }

// FilesChanged is a change in the workspace of an agent that has no hooks.
type FilesChanged struct{}

// BecameQuiet is a workspace and transcript without change for the settle period.
type BecameQuiet struct{}

// HintReceived is the word of an editor, or of the user's Git, that something was
// written in the workspace. Moved says that Git's HEAD is not what it was.
type HintReceived struct {
	What      string // happened
	HeadMoved bool
}

// PausedWhileWorking is a workspace without change for the settle period, while its agent is
// seen to be at work.
type PausedWhileWorking struct{}

// SessionEnded is the agent's word that it closes the session for good.
type SessionEnded struct{}

// AgentExited is the end of the agent's process.
type AgentExited struct{ Code int }

// AgentStopped is the end of an agent's process that Umbra has ended, of which nobody tells
// how it did.
type AgentStopped struct{}

// AgentVanished is an agent whose process is gone without a word. LongAgo says that it
// was gone before the system was started: nobody waits to hear of it.
type AgentVanished struct{ LongAgo bool }

func (SessionBegan) event() {}

func (AgentLaunched) event() {}

func (PromptSubmitted) event() {}

func (ToolStarting) event() {}

func (ToolFinished) event() {}

func (PermissionAsked) event() {}

func (PermissionAnswered) event() {}

func (TurnEnded) event() {}

func (TurnFailed) event() {}

func (TurnStopped) event() {}

func (TurnContinued) event() {}

func (TurnsCounted) event() {}

func (FilesChanged) event() {}

func (BecameQuiet) event() {}

func (HintReceived) event() {}

func (PausedWhileWorking) event() {}

func (SessionEnded) event() {}

func (AgentExited) event() {}

func (AgentStopped) event() {}

func (AgentVanished) event() {}

// Effect is something to be done because of an event: one of the types below.
type Effect interface{ effect() }

// TakeSnapshot asks for a snapshot. It carries the lifecycle that the snapshot is of,
// since one event may ask for two: the turn that ended unseen, and the next.
type TakeSnapshot struct {
	Trigger   Trigger   `json:"trigger"`
	Lifecycle Lifecycle `json:"-"`
	Message   string    `json:"what"` // what happened, for the subject
	// OnlyIfChanged lets the request be answered by the newest snapshot if
	// nothing is new. A change of state is always committed.
	OnlyIfChanged bool `json:"only_if_changed,omitempty"`
	// UserMessage says that What is a message of the user's.
	UserMessage bool `json:"named,omitempty"`
	// Late marks a moment that was noticed after it had passed.
	Late bool `json:"late,omitempty"`
	// Partial marks a snapshot before which something was lost.
	Partial bool `json:"partial,omitempty"`
	// RequestedAt is when that was, if there was no room for the snapshot then.
	RequestedAt time.Time `json:"moment,omitzero"`
	// CompareWholeSession has all of the session's file compared with what is recorded.
	CompareWholeSession bool `json:"whole,omitempty"`
}

// PerformQueued asks to carry out what was queued for the end of the turn.
type PerformQueued struct{}

// StartAutomations asks to start the user's commands for a change of state: OnReady,
// OnIdle, OnError or OnClose.
type StartAutomations struct{ On string }

func (TakeSnapshot) effect() {}

func (PerformQueued) effect() {}

func (StartAutomations) effect() {}

// Transition is the whole of the lifecycle: pure, total, and the only place
// where a lifecycle changes.
func Transition(l Lifecycle, e Event) (Lifecycle, []Effect) {
	next, effects := applyEvent(l, e)
	if on := automationFor(l, next, e); on != "" {
		effects = append(effects, StartAutomations{On: on})
	}
	return next, effects
}

// automationFor is the change of state that the user may want to hear of, "" if an
// event is none: what is heard twice is told once.
func automationFor(l, next Lifecycle, e Event) string {
	switch e.(type) {
	case AgentLaunched:
		return OnReady
	case TurnsCounted:
		return ""
	}
	same := StateOf(l) == StateOf(next)
	_, began := e.(SessionBegan)
	switch next.(type) {
	case Idle:
		if !same && (!began || IsInKnownTurn(l)) {
			return OnIdle
		}
	case Failed:
		if !same || l.LastTurn() != next.LastTurn() {
			return OnError
		}
	case Closed:
		if gone, lost := e.(AgentVanished); !same && !(lost && gone.LongAgo) {
			return OnClose
		}
	}
	return ""
}

func applyEvent(l Lifecycle, e Event) (Lifecycle, []Effect) {
	switch e := e.(type) {
	case SessionBegan:
		return onSessionBegan(l)
	case AgentLaunched:
		return onLaunch(l, e)
	case PromptSubmitted:
		return onPrompt(l, e)
	case ToolStarting:
		return onToolStarting(l, e)
	case ToolFinished:
		return onToolFinished(l, e.Tool), nil
	case PermissionAsked:
		return onPermissionAsked(l, e.Permission)
	case PermissionAnswered:
		return onPermissionAnswered(l, e), nil
	case TurnEnded:
		return onTurnEnded(l, e)
	case TurnFailed:
		return endTurn(l, Failed{Turn: l.LastTurn(), Message: e.Message}, TriggerError, ErrorLine(e.Message))
	case TurnStopped:
		return endTurn(l, Idle{Turn: l.LastTurn()}, TriggerIdle, "interrupted")
	case TurnContinued:
		return onTurnContinued(l, e)
	case TurnsCounted:
		return withTurn(l, e.Turn), nil
	case FilesChanged:
		if _, idle := l.(Idle); idle {
			return Running{Turn: l.LastTurn()}, nil
		}
		return l, nil
	case BecameQuiet:
		return onQuiet(l)
	case HintReceived:
		return l, []Effect{TakeSnapshot{Trigger: TriggerWatch, Lifecycle: l, Message: e.What, OnlyIfChanged: !e.HeadMoved, UserMessage: e.HeadMoved}}
	case PausedWhileWorking:
		return l, onPause(l)
	case SessionEnded:
		return closeMission(l, Closed{Turn: l.LastTurn(), Reason: CloseReasonExit}, "session ended", false)
	case AgentExited:
		return onExit(l, e)
	case AgentStopped:
		return onStop(l)
	case AgentVanished:
		return closeMission(l, Closed{Turn: l.LastTurn(), Reason: CloseReasonLost}, "agent is gone", true)
	}
	return l, nil
}

// onSessionBegan leaves whatever was before: a turn whose end was not heard, since
// its session was left in it or its agent killed, and an error.
func onSessionBegan(l Lifecycle) (Lifecycle, []Effect) {
	next := Idle{Turn: l.LastTurn()}
	if IsInKnownTurn(l) {
		return next, []Effect{TakeSnapshot{Trigger: TriggerIdle, Lifecycle: next, Message: "turn ended unseen", Late: true}, PerformQueued{}}
	}
	return next, nil
}

// hasBegunTurn reports whether the agent is in a turn, and is no launched one that may wait
// for its user as well.
func hasBegunTurn(l Lifecycle) bool {
	r, running := l.(Running)
	return running && !r.Launched
}

// IsInKnownTurn reports whether the agent is in a turn that was heard of.
func IsInKnownTurn(l Lifecycle) bool { return hasBegunTurn(l) && l.LastTurn() > 0 }

func onLaunch(l Lifecycle, e AgentLaunched) (Lifecycle, []Effect) {
	if e.HeardBefore && InTurn(l) {
		return l, nil
	}
	if e.HasHooks {
		return Idle{Turn: l.LastTurn()}, nil
	}
	next := Running{Turn: l.LastTurn(), Launched: true}
	if _, closed := l.(Closed); closed {
		// What was changed meanwhile is not the agent's, of whose first prompt nobody tells.
		return next, []Effect{TakeSnapshot{Trigger: TriggerWatch, Lifecycle: next, Message: "launched"}}
	}
	return next, nil
}

func onPrompt(l Lifecycle, e PromptSubmitted) (Lifecycle, []Effect) {
	if r, ok := l.(Running); ok && e.ID != "" && r.PromptID == e.ID {
		if r.Prompt == e.Text {
			return l, nil // the same hook, heard twice
		}
		// Typed while the agent works: it goes into this turn, or waits for its end.
		return r, []Effect{TakeSnapshot{Trigger: TriggerTool, Lifecycle: r, Message: OneLine("prompt while it works", e.Text), OnlyIfChanged: true}}
	}
	var effects []Effect
	if r, ok := l.(Running); ok && IsInKnownTurn(r) {
		// No end of the former turn was heard (Esc, an API error, a kill).
		effects = append(effects, TakeSnapshot{Trigger: TriggerIdle, Lifecycle: Idle{Turn: r.Turn}, Message: "turn ended unseen", Late: true, OnlyIfChanged: r.isUnnoted()})
	}
	next := Running{Turn: l.LastTurn() + 1, Prompt: e.Text, PromptID: e.ID}
	return next, append(effects, TakeSnapshot{Trigger: TriggerPrompt, Lifecycle: next, Message: OneLine("prompt", e.Text)})
}

func onToolStarting(l Lifecycle, e ToolStarting) (Lifecycle, []Effect) {
	r := asRunning(l).withAnswered(e.Tool) // some agents ask before they say that it begins
	tool := e.Tool
	r.Tool = &tool
	note := !hasBegunTurn(l) || r.isUnnoted()
	if r.Noted = r.Continued; !e.Writes && !note {
		return r, nil
	}
	what := OneLine("before "+tool.Name, tool.Target)
	return r, []Effect{TakeSnapshot{Trigger: TriggerTool, Lifecycle: r, Message: what, OnlyIfChanged: !note}}
}

// onTurnContinued has the turn that had ended last run again: the snapshot that it ended with
// stays the moment of its end.
func onTurnContinued(l Lifecycle, e TurnContinued) (Lifecycle, []Effect) {
	r, _ := l.(Running)
	running := hasBegunTurn(l)
	if !running {
		r = Running{Turn: l.LastTurn(), Continued: true}
	}
	if e.ID != "" {
		r.PromptID = e.ID
	}
	known := running && !r.isUnnoted()
	r.Noted = r.Continued && !e.Seen
	return r, []Effect{TakeSnapshot{Trigger: TriggerTool, Lifecycle: r, Message: "goes on", OnlyIfChanged: known || e.Seen}}
}

// withTurn is l with the number of a turn that is not before its own.
func withTurn(l Lifecycle, turn int) Lifecycle {
	turn = max(turn, l.LastTurn())
	switch l := l.(type) {
	case Initializing:
		l.Turn = turn
		return l
	case Running:
		l.Launched = l.Launched && turn == l.Turn // else it is known to be in one
		l.Turn = turn
		return l
	case Idle:
		l.Turn = turn
		return l
	case Failed:
		l.Turn = turn
		return l
	case Closed:
		l.Turn = turn
		return l
	}
	return l
}

// isUnnoted reports whether a turn goes on without that a snapshot says so.
func (r Running) isUnnoted() bool { return r.Continued && !r.Noted }

// onPermissionAsked adds a question. One that is heard twice, in two ways, is one.
func onPermissionAsked(l Lifecycle, asked Permission) (Lifecycle, []Effect) {
	r := asRunning(l)
	if !slices.ContainsFunc(r.Pending, asked.isSame) {
		r.Pending = append(slices.Clone(r.Pending), asked)
	}
	if hasBegunTurn(l) {
		return r, nil
	}
	return r, []Effect{TakeSnapshot{Trigger: TriggerTool, Lifecycle: r, Message: OneLine("asks for "+asked.Tool, asked.Target)}}
}

func onPermissionAnswered(l Lifecycle, e PermissionAnswered) Lifecycle {
	r, ok := l.(Running)
	switch {
	case !ok:
		return l
	case e.ID == "":
		r.Pending = nil
		return r
	}
	return r.withAnswered(ToolUse{ID: e.ID})
}

// onToolFinished answers what was asked about the tool, and nothing else: others may
// run beside it.
func onToolFinished(l Lifecycle, tool ToolUse) Lifecycle {
	r, ok := l.(Running)
	if !ok {
		return l
	}
	r.Tool = nil
	if tool.ID == "" && tool.Name == "" { // nobody knows which
		r.Pending = nil
	}
	return r.withAnswered(tool)
}

func onTurnEnded(l Lifecycle, e TurnEnded) (Lifecycle, []Effect) {
	if e.Background {
		r := asRunning(l)
		r.Tool, r.Pending, r.Background = nil, nil, true
		return r, []Effect{TakeSnapshot{Trigger: TriggerTool, Lifecycle: r, Message: "answered, work goes on in the background"}}
	}
	return endTurn(l, Idle{Turn: l.LastTurn()}, TriggerIdle, "turn ended")
}

// HasTurnEnd leaves a turn. An end heard twice, or of a mission that is in no turn,
// changes nothing, but files may have changed: that is kept too.
func endTurn(l, next Lifecycle, trigger Trigger, what string) (Lifecycle, []Effect) {
	switch l := l.(type) {
	case Running:
		return next, []Effect{TakeSnapshot{Trigger: trigger, Lifecycle: next, Message: what, OnlyIfChanged: l.isUnnoted()}, PerformQueued{}}
	case Initializing:
		return next, []Effect{TakeSnapshot{Trigger: trigger, Lifecycle: next, Message: what}, PerformQueued{}}
	case Closed:
		if l.Reason != CloseReasonLost {
			return l, nil
		}
		// It was given up, and speaks after all.
	}
	return next, []Effect{TakeSnapshot{Trigger: trigger, Lifecycle: next, Message: what, OnlyIfChanged: true}, PerformQueued{}}
}

func onQuiet(l Lifecycle) (Lifecycle, []Effect) {
	switch l.(type) {
	case Running:
		next := Idle{Turn: l.LastTurn()}
		return next, []Effect{TakeSnapshot{Trigger: TriggerIdle, Lifecycle: next, Message: "quiet"}, PerformQueued{}}
	case Closed, Initializing:
		return l, nil
	}
	return l, []Effect{TakeSnapshot{Trigger: TriggerWatch, Lifecycle: l, Message: "files changed", OnlyIfChanged: true}}
}

// onPause keeps what an agent has written that goes on.
func onPause(l Lifecycle) []Effect {
	if _, running := l.(Running); !running {
		return nil
	}
	return []Effect{TakeSnapshot{Trigger: TriggerWatch, Lifecycle: l, Message: "files changed", OnlyIfChanged: true}}
}

func onExit(l Lifecycle, e AgentExited) (Lifecycle, []Effect) {
	next := Closed{Turn: l.LastTurn(), Reason: CloseReasonExit, ExitCode: e.Code}
	if c, ok := l.(Closed); ok {
		if c == next || c.Reason != CloseReasonExit {
			return l, nil
		}
		return next, nil // the session's end was heard first, the exit code now
	}
	what := "agent ended"
	if e.Code != 0 {
		what = "agent ended with exit code " + Itoa(e.Code)
	}
	return closeMission(l, next, what, false)
}

// onStop corrects what was made of the end of the process by who saw nothing else.
func onStop(l Lifecycle) (Lifecycle, []Effect) {
	next := Closed{Turn: l.LastTurn(), Reason: CloseReasonExit}
	if c, ok := l.(Closed); ok && c.Reason == CloseReasonLost {
		return next, nil
	}
	return closeMission(l, next, "stopped", false)
}

func closeMission(l Lifecycle, next Closed, what string, late bool) (Lifecycle, []Effect) {
	if _, done := l.(Closed); done {
		return l, nil
	}
	return next, []Effect{TakeSnapshot{Trigger: TriggerClose, Lifecycle: next, Message: what, Late: late}, PerformQueued{}}
}

// asRunning is l as a running one: an agent that acts is in a turn, whether or
// not its beginning was heard, as that of a turn at a prompt which was queued. Where
// it begins a turn, a snapshot has to say so: what changes from then on is the agent's.
func asRunning(l Lifecycle) Running {
	if r, ok := l.(Running); ok && hasBegunTurn(r) {
		return r
	}
	return Running{Turn: l.LastTurn() + 1}
}
