// Package sessions is the contract between Umbra and an agent's own
// conversation files: finding, reading, cutting and rewriting them, the command
// lines that launch and resume the agent, and the hooks it calls. It knows
// nothing of missions, Git or workspaces beyond their paths, and adapters never
// write: they return files to place, which the caller journals and places.
package sessions

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"
)

var (
	// ErrNoSession is returned when an agent's store holds no such session.
	ErrNoSession = errors.New("no such session")
	// ErrEmptyCut is returned when nothing resumable is left before a cut: a
	// fork or restore from there starts the agent on a new conversation.
	ErrEmptyCut = errors.New("no finished exchange before this moment")
	// ErrRewriteVersion is returned for a version of Rewrite that a newer Umbra
	// has made.
	ErrRewriteVersion = errors.New("made by a newer umbra: unknown version of rewriting")
	// ErrBadPayload is returned for hook input that is no event of the agent.
	ErrBadPayload = errors.New("not a hook event of this agent")
	// ErrForeignFile is returned where hooks are a file of their own, and the user has
	// another one of that name.
	ErrForeignFile = errors.New("there is a file of this name that Umbra did not write")
)

// Environ is the part of a process's environment an adapter may read: it is
// given, never taken from the process, so that a daemon reads its client's. It
// tells where the agent's store is and how it names its directories.
type Environ struct {
	Home string            // the user's home directory
	Vars map[string]string // only the adapter's own variables (see Adapter.Variables and Adapter.HookVariables)
}

// Adapter is one agent. Its methods are pure but for reading the agent's files
// and are safe for concurrent use.
type Adapter interface {
	// Name is the agent's word on Umbra's command line: "claude".
	Name() string
	// Variables names the environment variables the adapter reads, such as
	// CLAUDE_CONFIG_DIR. Only these are kept with a mission; never secrets.
	Variables() []string
	// StoreVariables names those of Variables that decide where the conversations
	// are: Root and Path follow from them and the home directory. An agent that goes
	// on with a conversation is given them as they were when it was begun.
	StoreVariables() []string
	// HookVariables names further variables that Event reads from a hook's
	// environment. They belong to one run of the agent: they are passed to
	// Event and kept nowhere; never secrets.
	HookVariables() []string
	// PID is the agent's process, as the environment of its hooks says; told is
	// false where this version says nothing.
	PID(env Environ) (pid int, told bool)
	// Runs reports whether argv starts this agent, by its program's base name.
	Runs(argv []string) bool
	// Root is the directory of the agent's store on this machine.
	Root(env Environ) string

	// NewID is the id of a session that Umbra begins, in the agent's form:
	// made of a random UUID and, where the agent's ids or file names hold one,
	// of the time.
	NewID(random string, at time.Time) string
	// Path is the main file of the session with that id of the agent running in
	// cwd (already resolved, absolute): the one that is there, else where a new
	// one is to be put. That follows from the arguments alone, so that whoever
	// finishes what a killed process has begun finds its file. A store need not
	// be by directory.
	Path(env Environ, cwd, id string) string
	// Open reads a session's identity from its main file's lines.
	// ErrNoSession if there is no such file.
	Open(path string) (Session, error)
	// Sides lists the session's side files, as they are on disk now, in the
	// order of their names.
	Sides(env Environ, s Session) ([]Side, error)
	// Live reports the process that has the session open, if the agent keeps
	// a registry of such and the process still lives.
	Live(env Environ, id string) (pid int, ok bool)

	// Read parses a whole conversation. It never fails on foreign or damaged
	// lines: it counts them.
	Read(r io.Reader) (Conversation, error)
	// Follow returns a parser that is fed appended bytes as they come.
	Follow() Follower
	// Cut returns the length of the longest prefix that is a conversation the
	// agent can go on from: it ends with the last complete event after which
	// no tool call lacks its result, without a trailing prompt that has no
	// answer. ErrEmptyCut if there is none.
	Cut(r io.Reader) (Cut, error)
	// CutEnd is Cut for a conversation of which r gives only what follows its
	// first bytes, from on. Length is that of the whole; Events counts the lines
	// that r gave. It is false where what came before may matter: then more is
	// to be read.
	CutEnd(r io.Reader, from int64) (Cut, bool, error)
	// Rewrite streams the first length bytes of a session to w under a new
	// identity and place. It keeps lines it does not understand, drops an
	// unterminated last line, and never touches signed blocks.
	Rewrite(w io.Writer, r io.Reader, length int64, to Rewrite) error
	// RewriteVersion is the version of what Rewrite makes now, from 1 on. What a
	// fork has inherited is stored as how it was made: whatever a released version
	// has made once it must make again for ever, byte for byte.
	RewriteVersion() int
	// PlaceSides maps the side files of a session to those of its rewritten
	// copy: where they go and what is in them. open reads a side's bytes.
	PlaceSides(env Environ, sides []string, open func(name string) (io.ReadCloser, error), to Rewrite) ([]File, error)

	// Launch is the command line that starts the agent for a mission.
	Launch(o Launch) (Command, error)

	// Event reads one hook payload. name is the event's name if the hook's
	// command line gave it, else "". ErrBadPayload for foreign input.
	Event(env Environ, name string, payload []byte) (Event, error)
	// Reply is what the hook prints for the agent.
	Reply(e Event, a Answer) []byte
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
	// HooksOff reports whether these settings keep the agent from running any
	// hook.
	HooksOff(settings []byte) bool
}

// Truster is an Adapter whose agent runs only those hooks that its user has
// looked at.
type Truster interface {
	// Distrusted says why the agent does not run the hooks that are installed in
	// a file yet, and what its user has to do; "" if nothing is known against it.
	// read reads a settings file of the agent's.
	Distrusted(env Environ, file string, read func(string) ([]byte, error)) string
}

// Replacing is an Adapter whose agent writes again, later in its file, what it has
// said in an earlier turn: a conversation can only be read from its beginning on.
type Replacing interface{ Replaces() }

// Foreign is the Adapter of tools that Umbra does not know and that call it by
// themselves. Its conversations are bytes: what was said in one, hooks tell alone.
type Foreign interface {
	Adapter
	// Resumable reports whether a tool that says of itself that it is resumed by
	// these words (see Event.Resume) can go on from a copy of its conversation.
	Resumable(how []string) bool
}

// Companion is an Adapter whose hooks come with further files, such as the one
// by which the agent offers its user a command for Umbra.
type Companion interface {
	// HookExtras are the files that go beside the hooks of a scope.
	HookExtras(env Environ, scope Scope, projectDir string) []Extra
}

// Versioned is an Adapter that can tell which version of its agent has written a
// session.
type Versioned interface {
	// Client is the version that wrote the session's file last, "" if it does not
	// tell. It reads the end of the file only.
	Client(path string) string
	// Tried are the oldest and the newest version whose files the adapter was tried on.
	Tried() (oldest, newest string)
}

// Packaged is a Versioned whose sessions do not tell, but the program that runs.
type Packaged interface {
	Versioned
	// Installed is the version of the program that a command line runs, "" if that
	// is not the agent or does not tell.
	Installed(argv []string) string
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

// Extra is a file that comes with hooks. It is only ever written where none is,
// or one of Umbra's.
type Extra struct {
	Path    string
	Content []byte
	What    string // what it gives the user, in a few words: "the command /checkpoint"
	// Own reports whether content is one that Umbra has written, now or before.
	Own func(content []byte) bool
}

// Switcher is an adapter whose agent goes over to another session by what its
// user types in it.
type Switcher interface {
	// Switch is what to type; with no id, to begin a new session.
	Switch(id string) string
}

// Session is one conversation on this machine.
type Session struct {
	ID       string
	Path     string // absolute path of the main file
	Cwd      string // the directory the agent worked in, as its lines say
	Modified time.Time
	Size     int64
}

// Side is a file that belongs to a session beside its main file.
type Side struct {
	Name string // portable, slash-separated, without the session's id: "subagents/agent-1f.jsonl"
	Path string // absolute on this machine
	Size int64
	Mode fs.FileMode
}

// Conversation is what a session file says.
type Conversation struct {
	ID     string
	Cwd    string
	Turns  []Turn
	Events int   // complete, parsable lines
	Bad    int   // complete lines that are not the agent's
	Length int64 // bytes up to the end of the last complete line
	Torn   bool  // bytes follow Length
	State  State
	// Queued are the prompts that were sent to the agent and not taken up by it yet, the
	// first one first; none where its file does not tell of such.
	Queued []Text
	// Cost is what the agent says the conversation has cost, in US dollars; 0
	// where it says nothing.
	Cost float64
}

// Clone is a conversation that keeps what it says when more is said in the last
// turn of the other.
func (c Conversation) Clone() Conversation {
	c.Turns = slices.Clone(c.Turns)
	if n := len(c.Turns); n > 0 {
		last := &c.Turns[n-1]
		last.Tools, last.Texts = slices.Clone(last.Tools), slices.Clone(last.Texts)
	}
	return c
}

// State is what the transcript's last event says of the agent.
type State string

// The states a transcript can show.
const (
	StateEmpty       State = "empty"
	StateIdle        State = "idle"        // the last turn has its answer
	StateRunning     State = "running"     // a prompt or tool result waits for an answer
	StateInterrupted State = "interrupted" // the user stopped the turn
	StateError       State = "error"       // the API refused
)

// Turn is one prompt and everything up to the next.
type Turn struct {
	Prompt string
	ID     string // the agent's own id of the prompt, if it has one
	At     time.Time
	End    time.Time // last event's time
	Start  int64     // byte offsets of the turn's lines in the file
	Stop   int64
	Tools  []Tool
	Texts  []Text
	Done   bool // an answer without open tool calls ends it
	Over   bool // of the newest one: the file itself says so, and of no work that came since
	Tokens Tokens
	// From is the session that it was said in, where the file tells that it was
	// another one, which the agent itself has copied.
	From string
	// Compactions counts how often the conversation was summed up meanwhile.
	Compactions int
	// Refusal is what the agent says of the newest refusal of its API, as it says it;
	// "" if there was none, or it does not tell.
	Refusal string
}

// Text is something said: by the agent, or by its user within a turn.
type Text struct {
	Role string // "assistant" or "user"
	Text string
	At   time.Time
}

// Tool is one tool call.
type Tool struct {
	ID     string // the agent's id of the call
	Name   string
	Target string // the file or command it acts on, for people; "" if unknown
	At     time.Time
	Failed bool
	Done   bool // its result is in the file
	Agent  string
}

// Tokens counts what the file says was used; -1 where it says nothing.
type Tokens struct{ Input, Output int64 }

// Follower parses a growing transcript. Not safe for concurrent use.
type Follower interface {
	// Feed takes the next bytes of the file.
	Feed(p []byte)
	// Conversation is what has been read so far.
	Conversation() Conversation
}

// Cut is a prefix of a session.
type Cut struct {
	Length  int64  // bytes kept, ending with a line end
	Events  int    // complete lines kept
	Dropped int    // complete lines dropped
	Open    []Tool // tool calls that were dropped because their result is missing
}

// Rewrite says what a copied session becomes.
type Rewrite struct {
	OldID, NewID   string
	OldCwd, NewCwd string
	// OldRoot and NewRoot are the workspaces' roots: paths below the former
	// are rewritten to the latter in text, tool inputs and results. Equal
	// roots rewrite nothing.
	OldRoot, NewRoot string
	// OldName is another path of a directory of the old workspace, by which the
	// session calls it: a symbolic link's. It becomes NewName as OldRoot becomes
	// NewRoot. Both are empty where there is none.
	OldName, NewName string
	Now              time.Time
	// Version is the version of Rewrite that is to make it, 0 for that of now.
	// ErrRewriteVersion if the adapter does not know it.
	Version int
}

// Known is ErrRewriteVersion if an adapter whose newest version is given does not
// know the one that is to make it.
func (to Rewrite) Known(newest int) error {
	if to.Version < 0 || to.Version > newest {
		return fmt.Errorf("%w: %d", ErrRewriteVersion, to.Version)
	}
	return nil
}

// File is a file an adapter wants placed: never over an existing one.
type File struct {
	Path  string
	Mode  fs.FileMode
	Write func(io.Writer) error
	// Side names the side file that it is executable like; "" for none.
	Side string
	// ModTime is when it counts as changed last; zero is now.
	ModTime time.Time
}

// Launch says how an agent is to be started.
type Launch struct {
	Command   []string // as the user gave it, or the agent's program alone
	SessionID string   // the session to resume, or the id to give a new one
	Resume    bool
	// Fresh says that Command was given for this launch, so that a prompt in it
	// is still to be sent; a resumption drops that of a recorded one.
	Fresh       bool
	Again       bool // it was prompted before: a prompt in a command that is not fresh was sent long ago
	Prompt      string
	How         []string // what a tool of a Foreign adapter has said of how it is resumed
	Transcript  string   // where the session to resume is
	HookCommand string   // empty: no hooks for this launch
	SettingsDir string   // where a file for this launch alone may be put
	// Config is the configuration to be used instead of that of now; nil: none.
	Config *Config
	Env    Environ // what the agent will see
	Dir    string  // where it will run
	// ReadFile reads a settings file of the user's: one that the command names,
	// relative to Dir, or one where hooks may be switched off.
	ReadFile func(string) ([]byte, error)
}

// Command is a command line ready to run.
type Command struct {
	Argv  []string
	Files []File            // to be placed before it runs, replacing older ones of the same name
	Env   map[string]string // set for the agent beside what it gets anyhow
	// SessionID is the session the agent will use, "" if it chooses one.
	SessionID string
	// Configured reports whether the launch has the Config it was given;
	// Unconfigured is why not, or what of it is not as it was.
	Configured   bool
	Unconfigured string
	// Hooked reports whether the launch reports events by hooks; Why not.
	Hooked bool
	Why    string
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

// Event is one hook call of an agent.
type Event struct {
	Kind       Kind
	Name       string // the agent's own name of the event
	SessionID  string
	Transcript string // absolute path of the session's main file
	Cwd        string
	Source     string // session-start: startup, resume, fork, compact, clear
	Reason     string // session-end
	Prompt     string
	PromptID   string
	Command    string // command: what was typed behind its name
	Tool       Tool
	Writes     bool // tool-before: the tool can change files
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
