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

// Launched is the start of the agent's process. Hooked agents say themselves
// when a turn begins; the others count as running until they are quiet. Spoken
// says that the agent was heard in a turn before its keeper told of its start.
type Launched struct{ Hooked, Spoken bool }

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

// WentOn is work of an agent whose turn has ended: another tool's hook has kept it from
// stopping, what it left in the background has reported, or it sums its conversation up.
// It belongs to that turn. ID is that of the prompt that it works at, as its events will
// have it; "" where that is as it was. Seen says that this was seen, and no event of the
// agent's told of it: it may as well come to nothing.
type WentOn struct {
	ID   string
	Seen bool
}

// Spoken says up to which turn the conversation of an agent without hooks is: nothing
// told of their beginnings.
type Spoken struct{ Turn int }

// Stirred is a change in the workspace of an agent that has no hooks.
type Stirred struct{}

// Quieted is a workspace and transcript without change for the settle period.
type Quieted struct{}

// Hinted is the word of an editor, or of the user's Git, that something was
// written in the workspace. Moved says that Git's HEAD is not what it was.
type Hinted struct {
	What  string // happened
	Moved bool
}

// Settled is a workspace without change for the settle period, while its agent is
// seen to be at work.
type Settled struct{}

// SessionEnded is the agent's word that it closes the session for good.
type SessionEnded struct{}

// Exited is the end of the agent's process.
type Exited struct{ Code int }

// Stopped is the end of an agent's process that Umbra has ended, of which nobody tells
// how it did.
type Stopped struct{}

// Vanished is an agent whose process is gone without a word. LongAgo says that it
// was gone before the system was started: nobody waits to hear of it.
type Vanished struct{ LongAgo bool }

func (SessionBegan) event()       {}
func (Launched) event()           {}
func (PromptSubmitted) event()    {}
func (ToolStarting) event()       {}
func (ToolFinished) event()       {}
func (PermissionAsked) event()    {}
func (PermissionAnswered) event() {}
func (TurnEnded) event()          {}
func (TurnFailed) event()         {}
func (TurnStopped) event()        {}
func (WentOn) event()             {}
func (Spoken) event()             {}
func (Stirred) event()            {}
func (Quieted) event()            {}
func (Hinted) event()             {}
func (Settled) event()            {}
func (SessionEnded) event()       {}
func (Exited) event()             {}
func (Stopped) event()            {}
func (Vanished) event()           {}

// Effect is something to be done because of an event: one of the types below.
type Effect interface{ effect() }

// Take asks for a snapshot. It carries the lifecycle that the snapshot is of,
// since one event may ask for two: the turn that ended unseen, and the next.
type Take struct {
	Trigger Trigger   `json:"trigger"`
	Of      Lifecycle `json:"-"`
	What    string    `json:"what"` // what happened, for the subject
	// OnlyIfChanged lets the request be answered by the newest snapshot if
	// nothing is new. A change of state is always committed.
	OnlyIfChanged bool `json:"only_if_changed,omitempty"`
	// Named says that What is a message of the user's.
	Named bool `json:"named,omitempty"`
	// Late marks a moment that was noticed after it had passed.
	Late bool `json:"late,omitempty"`
	// Partial marks a snapshot before which something was lost.
	Partial bool `json:"partial,omitempty"`
	// Moment is when that was, if there was no room for the snapshot then.
	Moment time.Time `json:"moment,omitzero"`
	// Whole has all of the session's file compared with what is recorded.
	Whole bool `json:"whole,omitempty"`
}

// Perform asks to carry out what was queued for the end of the turn.
type Perform struct{}

// Automate asks to start the user's commands for a change of state: OnReady,
// OnIdle, OnError or OnClose.
type Automate struct{ On string }

func (Take) effect()     {}
func (Perform) effect()  {}
func (Automate) effect() {}

// Transition is the whole of the lifecycle: pure, total, and the only place
// where a lifecycle changes.
func Transition(l Lifecycle, e Event) (Lifecycle, []Effect) {
	next, effects := transition(l, e)
	if on := automated(l, next, e); on != "" {
		effects = append(effects, Automate{On: on})
	}
	return next, effects
}

// automated is the change of state that the user may want to hear of, "" if an
// event is none: what is heard twice is told once.
func automated(l, next Lifecycle, e Event) string {
	switch e.(type) {
	case Launched:
		return OnReady
	case Spoken:
		return ""
	}
	same := State(l) == State(next)
	_, began := e.(SessionBegan)
	switch next.(type) {
	case Idle:
		if !same && (!began || inKnownTurn(l)) {
			return OnIdle
		}
	case Failed:
		if !same || l.LastTurn() != next.LastTurn() {
			return OnError
		}
	case Closed:
		if gone, lost := e.(Vanished); !same && !(lost && gone.LongAgo) {
			return OnClose
		}
	}
	return ""
}

func transition(l Lifecycle, e Event) (Lifecycle, []Effect) {
	switch e := e.(type) {
	case SessionBegan:
		return sessionBegan(l)
	case Launched:
		return launched(l, e)
	case PromptSubmitted:
		return prompted(l, e)
	case ToolStarting:
		return toolStarting(l, e)
	case ToolFinished:
		return toolFinished(l, e.Tool), nil
	case PermissionAsked:
		return permissionAsked(l, e.Permission)
	case PermissionAnswered:
		return permissionAnswered(l, e), nil
	case TurnEnded:
		return turnEnded(l, e)
	case TurnFailed:
		return ended(l, Failed{Turn: l.LastTurn(), Message: e.Message}, TriggerError, ErrorLine(e.Message))
	case TurnStopped:
		return ended(l, Idle{Turn: l.LastTurn()}, TriggerIdle, "interrupted")
	case WentOn:
		return wentOn(l, e)
	case Spoken:
		return spoken(l, e.Turn), nil
	case Stirred:
		if _, idle := l.(Idle); idle {
			return Running{Turn: l.LastTurn()}, nil
		}
		return l, nil
	case Quieted:
		return quieted(l)
	case Hinted:
		return l, []Effect{Take{Trigger: TriggerWatch, Of: l, What: e.What, OnlyIfChanged: !e.Moved, Named: e.Moved}}
	case Settled:
		return l, settled(l)
	case SessionEnded:
		return closed(l, Closed{Turn: l.LastTurn(), How: HowExit}, "session ended", false)
	case Exited:
		return exited(l, e)
	case Stopped:
		return stopped(l)
	case Vanished:
		return closed(l, Closed{Turn: l.LastTurn(), How: HowLost}, "agent is gone", true)
	}
	return l, nil
}

// sessionBegan leaves whatever was before: a turn whose end was not heard, since
// its session was left in it or its agent killed, and an error.
func sessionBegan(l Lifecycle) (Lifecycle, []Effect) {
	next := Idle{Turn: l.LastTurn()}
	if inKnownTurn(l) {
		return next, []Effect{Take{Trigger: TriggerIdle, Of: next, What: "turn ended unseen", Late: true}, Perform{}}
	}
	return next, nil
}

// begun reports whether the agent is in a turn, and is no launched one that may wait
// for its user as well.
func begun(l Lifecycle) bool {
	r, running := l.(Running)
	return running && !r.Launched
}

// inKnownTurn reports whether the agent is in a turn that was heard of.
func inKnownTurn(l Lifecycle) bool { return begun(l) && l.LastTurn() > 0 }

func launched(l Lifecycle, e Launched) (Lifecycle, []Effect) {
	if e.Spoken && InTurn(l) {
		return l, nil
	}
	if e.Hooked {
		return Idle{Turn: l.LastTurn()}, nil
	}
	next := Running{Turn: l.LastTurn(), Launched: true}
	if _, closed := l.(Closed); closed {
		// What was changed meanwhile is not the agent's, of whose first prompt nobody tells.
		return next, []Effect{Take{Trigger: TriggerWatch, Of: next, What: "launched"}}
	}
	return next, nil
}

func prompted(l Lifecycle, e PromptSubmitted) (Lifecycle, []Effect) {
	if r, ok := l.(Running); ok && e.ID != "" && r.PromptID == e.ID {
		if r.Prompt == e.Text {
			return l, nil // the same hook, heard twice
		}
		// Typed while the agent works: it goes into this turn, or waits for its end.
		return r, []Effect{Take{Trigger: TriggerTool, Of: r, What: oneLine("prompt while it works", e.Text), OnlyIfChanged: true}}
	}
	var effects []Effect
	if r, ok := l.(Running); ok && inKnownTurn(r) {
		// No end of the former turn was heard (Esc, an API error, a kill).
		effects = append(effects, Take{Trigger: TriggerIdle, Of: Idle{Turn: r.Turn}, What: "turn ended unseen", Late: true, OnlyIfChanged: r.unnoted()})
	}
	next := Running{Turn: l.LastTurn() + 1, Prompt: e.Text, PromptID: e.ID}
	return next, append(effects, Take{Trigger: TriggerPrompt, Of: next, What: oneLine("prompt", e.Text)})
}

func toolStarting(l Lifecycle, e ToolStarting) (Lifecycle, []Effect) {
	r := runningOf(l).answered(e.Tool) // some agents ask before they say that it begins
	tool := e.Tool
	r.Tool = &tool
	note := !begun(l) || r.unnoted()
	if r.Noted = r.Again; !e.Writes && !note {
		return r, nil
	}
	what := oneLine("before "+tool.Name, tool.Target)
	return r, []Effect{Take{Trigger: TriggerTool, Of: r, What: what, OnlyIfChanged: !note}}
}

// wentOn has the turn that had ended last run again: the snapshot that it ended with
// stays the moment of its end.
func wentOn(l Lifecycle, e WentOn) (Lifecycle, []Effect) {
	r, _ := l.(Running)
	running := begun(l)
	if !running {
		r = Running{Turn: l.LastTurn(), Again: true}
	}
	if e.ID != "" {
		r.PromptID = e.ID
	}
	known := running && !r.unnoted()
	r.Noted = r.Again && !e.Seen
	return r, []Effect{Take{Trigger: TriggerTool, Of: r, What: "goes on", OnlyIfChanged: known || e.Seen}}
}

// spoken is l with the number of a turn that is not before its own.
func spoken(l Lifecycle, turn int) Lifecycle {
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

// unnoted reports whether a turn goes on without that a snapshot says so.
func (r Running) unnoted() bool { return r.Again && !r.Noted }

// permissionAsked adds a question. One that is heard twice, in two ways, is one.
func permissionAsked(l Lifecycle, asked Permission) (Lifecycle, []Effect) {
	r := runningOf(l)
	if !slices.ContainsFunc(r.Pending, asked.same) {
		r.Pending = append(slices.Clone(r.Pending), asked)
	}
	if begun(l) {
		return r, nil
	}
	return r, []Effect{Take{Trigger: TriggerTool, Of: r, What: oneLine("asks for "+asked.Tool, asked.Target)}}
}

func permissionAnswered(l Lifecycle, e PermissionAnswered) Lifecycle {
	r, ok := l.(Running)
	switch {
	case !ok:
		return l
	case e.ID == "":
		r.Pending = nil
		return r
	}
	return r.answered(ToolUse{ID: e.ID})
}

// toolFinished answers what was asked about the tool, and nothing else: others may
// run beside it.
func toolFinished(l Lifecycle, tool ToolUse) Lifecycle {
	r, ok := l.(Running)
	if !ok {
		return l
	}
	r.Tool = nil
	if tool.ID == "" && tool.Name == "" { // nobody knows which
		r.Pending = nil
	}
	return r.answered(tool)
}

func turnEnded(l Lifecycle, e TurnEnded) (Lifecycle, []Effect) {
	if e.Background {
		r := runningOf(l)
		r.Tool, r.Pending, r.Background = nil, nil, true
		return r, []Effect{Take{Trigger: TriggerTool, Of: r, What: "answered, work goes on in the background"}}
	}
	return ended(l, Idle{Turn: l.LastTurn()}, TriggerIdle, "turn ended")
}

// ended leaves a turn. An end heard twice, or of a mission that is in no turn,
// changes nothing, but files may have changed: that is kept too.
func ended(l, next Lifecycle, trigger Trigger, what string) (Lifecycle, []Effect) {
	switch l := l.(type) {
	case Running:
		return next, []Effect{Take{Trigger: trigger, Of: next, What: what, OnlyIfChanged: l.unnoted()}, Perform{}}
	case Initializing:
		return next, []Effect{Take{Trigger: trigger, Of: next, What: what}, Perform{}}
	case Closed:
		if l.How != HowLost {
			return l, nil
		}
		// It was given up, and speaks after all.
	}
	return next, []Effect{Take{Trigger: trigger, Of: next, What: what, OnlyIfChanged: true}, Perform{}}
}

func quieted(l Lifecycle) (Lifecycle, []Effect) {
	switch l.(type) {
	case Running:
		next := Idle{Turn: l.LastTurn()}
		return next, []Effect{Take{Trigger: TriggerIdle, Of: next, What: "quiet"}, Perform{}}
	case Closed, Initializing:
		return l, nil
	}
	return l, []Effect{Take{Trigger: TriggerWatch, Of: l, What: "files changed", OnlyIfChanged: true}}
}

// settled keeps what an agent has written that goes on.
func settled(l Lifecycle) []Effect {
	if _, running := l.(Running); !running {
		return nil
	}
	return []Effect{Take{Trigger: TriggerWatch, Of: l, What: "files changed", OnlyIfChanged: true}}
}

func exited(l Lifecycle, e Exited) (Lifecycle, []Effect) {
	next := Closed{Turn: l.LastTurn(), How: HowExit, ExitCode: e.Code}
	if c, ok := l.(Closed); ok {
		if c == next || c.How != HowExit {
			return l, nil
		}
		return next, nil // the session's end was heard first, the exit code now
	}
	what := "agent ended"
	if e.Code != 0 {
		what = "agent ended with exit code " + itoa(e.Code)
	}
	return closed(l, next, what, false)
}

// stopped corrects what was made of the end of the process by who saw nothing else.
func stopped(l Lifecycle) (Lifecycle, []Effect) {
	next := Closed{Turn: l.LastTurn(), How: HowExit}
	if c, ok := l.(Closed); ok && c.How == HowLost {
		return next, nil
	}
	return closed(l, next, "stopped", false)
}

func closed(l Lifecycle, next Closed, what string, late bool) (Lifecycle, []Effect) {
	if _, done := l.(Closed); done {
		return l, nil
	}
	return next, []Effect{Take{Trigger: TriggerClose, Of: next, What: what, Late: late}, Perform{}}
}

// runningOf is l as a running one: an agent that acts is in a turn, whether or
// not its beginning was heard, as that of a turn at a prompt which was queued. Where
// it begins a turn, a snapshot has to say so: what changes from then on is the agent's.
func runningOf(l Lifecycle) Running {
	if r, ok := l.(Running); ok && begun(r) {
		return r
	}
	return Running{Turn: l.LastTurn() + 1}
}
