package missions

import "slices"

// Transition is the whole of the lifecycle: pure, total, and the only place
// where a lifecycle changes.
func Transition(l Lifecycle, e Event) (Lifecycle, []Effect) {
	next, effects := applyEvent(l, e)
	if on := automationFor(l, next, e); on != "" {
		effects = append(effects, StartAutomations{On: on})
	}
	return next, effects
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
		return endTurn(l, Idle{Turn: l.LastTurn()}, TriggerIdle, MessageInterrupted)
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
	case TerminalPassed:
		return onTerminalPassed(l, e)
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
		return next, []Effect{TakeSnapshot{Trigger: TriggerIdle, Lifecycle: next, Message: MessageEndedUnseen, Late: true}, PerformQueued{}}
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
		return r, []Effect{TakeSnapshot{Trigger: TriggerTool, Lifecycle: r, Message: OneLine(MessageTyped, PromptLine(e.Text)), Typed: e.Text}}
	}
	var effects []Effect
	if r, ok := l.(Running); ok && IsInKnownTurn(r) {
		// No end of the former turn was heard (Esc, an API error, a kill).
		effects = append(effects, TakeSnapshot{Trigger: TriggerIdle, Lifecycle: Idle{Turn: r.Turn}, Message: MessageEndedUnseen, Late: true, OnlyIfChanged: r.isUnnoted()})
	}
	next := Running{Turn: l.LastTurn() + 1, Prompt: e.Text, PromptID: e.ID}
	return next, append(effects, TakeSnapshot{Trigger: TriggerPrompt, Lifecycle: next, Message: MessagePrompt})
}

func onToolStarting(l Lifecycle, e ToolStarting) (Lifecycle, []Effect) {
	r := asRunning(l).withAnswered(e.Tool) // some agents ask before they say that it begins
	tool := e.Tool
	r.Tool = &tool
	note := !hasBegunTurn(l) || r.isUnnoted()
	if r.Noted = r.Continued; !e.Writes && !note {
		return r, nil
	}
	what := "before " + tool.Words()
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

// onPermissionAsked adds a question. A question may be reported twice, by
// two sources: it counts once.
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
	return l, []Effect{TakeSnapshot{Trigger: TriggerWatch, Lifecycle: l, Message: "files changed", OnlyIfChanged: true, GrowthMayWait: true}}
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

// onTerminalPassed corrects what was made of the end of the process by who did not know
// why it ended.
func onTerminalPassed(l Lifecycle, e TerminalPassed) (Lifecycle, []Effect) {
	next := Closed{Turn: l.LastTurn(), Reason: e.Reason}
	if _, closed := l.(Closed); closed {
		return next, nil
	}
	return closeMission(l, next, string(e.Reason), false)
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
