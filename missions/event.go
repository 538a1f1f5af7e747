package missions

// Event is something that happened to a mission's agent: one of the types below.
type Event interface{ event() }

// SessionBegan is an agent that opens a session, a new one or an earlier one, and
// waits for its user.
type SessionBegan struct{}

// AgentLaunched is the start of the agent's process. An agent with hooks reports itself
// when a turn begins; any other counts as running until it is quiet. HeardBefore says
// that the agent reported a turn before its keeper reported the start.
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

// PermissionAnswered is the user's answer to the question about the call with that id, or,
// without an id, to all questions: the agent works again.
type PermissionAnswered struct{ ID string }

// TurnEnded is the end of the agent's answer. Background says that work of the
// turn goes on.
type TurnEnded struct{ Background bool }

// TurnFailed is an answer that ended in an error.
type TurnFailed struct{ Message string }

// TurnStopped is a turn that its user interrupted.
type TurnStopped struct{}

// TurnContinued is work of an agent after the end of its turn: a hook of another tool
// has kept it from stopping, its background work has reported, or it compacts its
// conversation. The work belongs to that turn. ID is the prompt's, as the agent's next
// events will have it; "" is the same prompt as before. Seen says that Umbra saw the
// work and no event of the agent's reported it: it may come to nothing.
type TurnContinued struct {
	ID   string
	Seen bool
}

// TurnsCounted is the last turn in the conversation of an agent without hooks, which does
// not report when turns begin.
type TurnsCounted struct{ Turn int }

// FilesChanged is a change in the workspace of an agent that has no hooks.
type FilesChanged struct{}

// BecameQuiet is a workspace and transcript without change for the settle period.
type BecameQuiet struct{}

// HintReceived is the report of an editor, or of the user's Git, that something was
// written in the workspace. HeadMoved says that Git's HEAD has changed.
type HintReceived struct {
	What      string // what happened
	HeadMoved bool
}

// PausedWhileWorking is a workspace without change for the settle period, while its agent
// works.
type PausedWhileWorking struct{}

// SessionEnded is the agent's report that it closes the session for good.
type SessionEnded struct{}

// AgentExited is the end of the agent's process.
type AgentExited struct{ Code int }

// AgentStopped is the end of an agent's process that Umbra has ended. Its exit code is not
// known.
type AgentStopped struct{}

// AgentVanished is an agent whose process is gone and has reported nothing. LongAgo says
// that it was gone before the system was started: no automation runs for it.
type AgentVanished struct{ LongAgo bool }

// TerminalPassed is the end of an agent that Umbra has ended since its terminal serves
// another mission from now on: that of a parked mission its side fork, that of a side fork
// its parent again.
type TerminalPassed struct{ Reason CloseReason }

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

func (TerminalPassed) event() {}
