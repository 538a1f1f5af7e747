package sessions

import "time"

// Hooked is an Adapter whose agent tells by hooks what it does.
type Hooked interface {
	// Event reads one hook payload. name is the event's name if the hook's
	// command line gave it, else "". ErrBadPayload for foreign input.
	Event(env Environ, name string, payload []byte) (Event, error)
	// Reply is what the hook prints for the agent.
	Reply(e Event, a Answer) []byte
}

// Telling is an Adapter whose agent says more of itself in the environment of its
// hooks.
type Telling interface {
	// HookVariables names further variables that Event reads from a hook's
	// environment. They belong to one run of the agent: they are passed to
	// Event and kept nowhere; never secrets.
	HookVariables() []string
	// PID is the agent's process, as the environment of its hooks says; told is
	// false where this version says nothing.
	PID(env Environ) (pid int, told bool)
}

// LateWriting is a Hooked whose agent writes what was said some time after its hook has told
// of a turn's end.
type LateWriting interface {
	// AnswerPatience is how long the answer is waited for.
	AnswerPatience() time.Duration
}

// Installing is an Adapter whose agent finds its hooks in a file of settings.
type Installing interface {
	Adapter
	// HookFile is the settings file that hooks of this scope live in.
	HookFile(env Environ, scope Scope, projectDir string) string
	// InstallHooks merges Umbra's hooks into settings (nil: no file yet). It
	// is idempotent, keeps unknown keys, order and formatting.
	InstallHooks(settings []byte, hookCommand string) ([]byte, error)
	// UninstallHooks takes exactly Umbra's hooks out again. remove reports
	// that nothing is left and the file was Umbra's own to create.
	UninstallHooks(settings []byte) (out []byte, remove bool, err error)
	// HookCommands returns Umbra's hook command lines found in settings, one
	// for each event, and the events that lack one.
	HookCommands(settings []byte) (commands []string, missing []string, err error)
}

// Silencing is an Adapter whose agent's settings may switch all hooks off.
type Silencing interface {
	// HooksOff reports whether these settings keep the agent from running any
	// hook.
	HooksOff(settings []byte) bool
}

// Truster is an Adapter whose agent runs only those hooks that its user has
// looked at.
type Truster interface {
	Installing
	// Distrusted says why the agent does not run the hooks that are installed in
	// a file yet, and what its user has to do; "" if nothing is known against it.
	// read reads a settings file of the agent's.
	Distrusted(env Environ, file string, read func(string) ([]byte, error)) string
}

// Companion is an Adapter whose hooks come with further files, such as the one
// by which the agent offers its user a command for Umbra.
type Companion interface {
	// HookExtras are the files that go beside the hooks of a scope.
	HookExtras(env Environ, scope Scope, projectDir string) []Extra
}

// Extra is a file that comes with hooks. It is only ever written where none is,
// or one of Umbra's.
type Extra struct {
	Path    string
	Content []byte
	What    string // what it gives the user, in a few words: "the command /checkpoint"
	// Own reports whether content is one that Umbra has written, now or before.
	Own func(content []byte) bool
}

// StatusLiner is an Adapter whose agent draws a line that a command prints, which
// its settings name: one command, so a user's own stays.
type StatusLiner interface {
	// InstallStatusLine adds command's line to settings that hold hooks already.
	// theirs reports a line of the user's own: then nothing is changed.
	InstallStatusLine(settings []byte, command string) (out []byte, theirs bool, err error)
	// UninstallStatusLine takes exactly Umbra's out again.
	UninstallStatusLine(settings []byte) ([]byte, error)
}

// Serving is an Adapter whose agent starts servers of tools that the settings with its
// hooks name.
type Serving interface {
	// InstallServer adds the server of Umbra's tools, which command starts, to settings
	// that hold hooks already. theirs reports another one of that name: then nothing is
	// changed.
	InstallServer(settings []byte, command []string) (out []byte, theirs bool, err error)
	// UninstallServer takes exactly Umbra's out again.
	UninstallServer(settings []byte) ([]byte, error)
}

// Enlisting is what is known of an agent that keeps its user's servers of tools in a file which
// the agent itself writes as it works: only its own commands change that file safely.
type Enlisting interface {
	// Agent is the name of the Adapter.
	Agent() string
	// ServerFile is that file.
	ServerFile(env Environ) string
	// EnlistedServer is the command of the server called ServerName in that file. One that
	// is there without a command has none.
	EnlistedServer(content []byte) (command []string, there bool, err error)
	// EnlistServer has the agent add the server that command starts, for its user in every
	// project. home is Umbra's directory.
	EnlistServer(env Environ, home string, command []string) OwnCommand
	// DismissServer has the agent take it out.
	DismissServer() OwnCommand
}

// OwnCommand is what the agent's own program is started with: its arguments, and variables
// beside those of its user.
type OwnCommand struct {
	Args []string
	Env  map[string]string
}

// Scope says whose settings hooks are installed in.
type Scope string

// The scopes of hooks.
const (
	ScopeUser    Scope = "user"
	ScopeProject Scope = "project" // the agent's local, unshared settings file
	ScopeShared  Scope = "shared"  // the project's settings that are committed
)

// Kind is what a hook event means for a mission.
type Kind string

// The kinds of hook events. Every other event is KindOther: it is answered and
// otherwise ignored.
const (
	KindSessionStart Kind = "session-start"
	KindPrompt       Kind = "prompt"      // the user's prompt, before the model sees it
	KindGoesOn       Kind = "goes-on"     // a prompt of the agent's own: what it left in the background has reported
	KindCommand      Kind = "command"     // words for Umbra, typed where a prompt goes: answered, and never sent
	KindToolBefore   Kind = "tool-before" // a tool is about to run
	KindToolAfter    Kind = "tool-after"
	KindToolBatch    Kind = "tool-batch" // all results of one answer are on disk
	KindPermission   Kind = "permission" // the agent asks its user, about the tool call of that id if it tells one
	KindAnswered     Kind = "answered"   // what it asked about the call of that id is answered
	KindStop         Kind = "stop"       // the turn ended
	KindError        Kind = "error"      // the turn ended in an error
	KindSessionEnd   Kind = "session-end"
	KindStatusLine   Kind = "status-line" // the agent draws its status line
	KindOther        Kind = "other"
)

// SideCommand begins what a person has typed about side forks, which is no name of a
// snapshot.
const SideCommand = "/umbra"

// Event is one hook call of an agent.
type Event struct {
	Kind       Kind
	Name       string // the agent's own name of the event
	SessionID  string
	Transcript string // absolute path of the session's main file
	Cwd        string
	Source     string // session-start: startup, resume, fork, clear, SourceCompact, SourceBackground
	Reason     string // session-end
	Prompt     string
	PromptID   string
	Command    string // command: what was typed behind its name, after SideCommand if it is about side forks; session-start: SideCommand if that can be typed
	Tool       Tool
	Writes     bool // tool-before, tool-after: the tool can change files
	Asks       bool // tool-before: the tool is itself a question to the agent's user, open until it has ended
	Within     bool // permission: a question only within a turn; between turns another's, or none
	// Files are, before a tool whose own work it is to write files, those files
	// as its input names them; nil for any other tool, above all a shell.
	Files   []string
	Agent   string // set inside a subagent
	Message string // stop: the last thing the agent said; error: what went wrong
	// Stopped reports, at a stop, that the agent's user has interrupted the turn.
	Stopped bool
	// Background reports that work of the turn goes on after its stop.
	Background bool
	// Headless reports that the agent runs without a person at it.
	Headless bool
	// Lone reports that ends of turns are all that this run of the agent tells
	// of: its hooks do not run.
	Lone bool
	// PID is the agent's process, 0 if the hook's environment does not tell.
	PID int

	// What follows is said by tools of a Foreign adapter alone.
	Program string   // the tool's name for people
	Resume  []string // the command that starts it on a conversation again; nil if it is not said
	Usage   Usage    // what was used since the last event that told of it
}

// SourceCompact is the source of a session's start that is none: its conversation was
// summed up.
const SourceCompact = "compact"

// SourceBackground is the source of a session that a process in the background begins as
// a copy of another one (/fork, /background of Claude Code). The other may go on.
const SourceBackground = "background"

// Usage is what an agent's model has cost.
type Usage struct {
	Input, Output int64   // tokens
	Cost          float64 // US dollars
}

// Answer is what Umbra has to say to a hook.
type Answer struct {
	Context string // text for the model, added to the prompt
	Block   string // the reason to stop the prompt or tool, or a command's answer; "" lets it go on
	Notice  string // a line for the person
}

// WorktreeHooks are those by which an agent, from some version on, has others make and
// remove the worktrees that it works in.
type WorktreeHooks interface {
	// Agent is the name of the Adapter.
	Agent() string
	// Install is the adapter's InstallHooks with those hooks too, where the program that
	// runs knows them: an older one may read nothing of settings that name them. Hooks of
	// its user's that make worktrees stay the only ones.
	Install(settings []byte, hookCommand, program string) ([]byte, error)
	// Asked is what a hook's payload asks for; false if it asks for no worktree.
	Asked(payload []byte) (WorktreeAsked, bool)
}

// WorktreeAsked is a worktree that an agent asks for, or is done with.
type WorktreeAsked struct {
	Session string
	Cwd     string // absolute
	Name    string // of the one to be made
	Remove  string // the directory of the one to be removed, absolute; "" if one is to be made
}
