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
	Vars map[string]string // only the adapter's own variables (see Relocatable and Telling)
}

// Adapter is one agent: what every agent has. What only some have are the roles
// beside it, found by type assertion: Hooked, Installing, Sided and so on. Methods
// are pure but for reading the agent's files, and are safe for concurrent use.
type Adapter interface {
	// Name is the agent's word on Umbra's command line: "claude".
	Name() string
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

	// Follow returns a parser that is fed a conversation's bytes as they come. It
	// never fails on foreign or damaged lines: it counts them.
	Follow() Follower
	// Cut returns the length of the longest prefix that is a conversation the
	// agent can go on from: it ends with the last complete event after which
	// no tool call lacks its result, without a trailing prompt that has no
	// answer. ErrEmptyCut if there is none.
	Cut(r io.Reader) (Cut, error)
	// Rewrite streams the first length bytes of a session to w under a new
	// identity and place. It keeps lines it does not understand, drops an
	// unterminated last line, and never touches signed blocks.
	Rewrite(w io.Writer, r io.Reader, length int64, to Rewrite) error
	// RewriteVersion is the version of what Rewrite makes now, from 1 on. What a
	// fork has inherited is stored as how it was made: whatever a released version
	// has made once it must make again for ever, byte for byte.
	RewriteVersion() int

	// Launch is the command line that starts the agent for a mission.
	Launch(o Launch) (Command, error)
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
		last.Subagents = slices.Clone(last.Subagents)
		for i, s := range last.Subagents {
			last.Subagents[i].Texts, last.Subagents[i].Tools = slices.Clone(s.Texts), slices.Clone(s.Tools)
		}
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
	// Subagents are what subagents said meanwhile, where that is in the session's own file.
	Subagents []Subagent
}

// Subagent is what a subagent of an agent said within a turn.
type Subagent struct {
	ID    string // the agent's
	Texts []Text // what it was asked is its "user"'s
	Tools []Tool
}

// Text is something said: by the agent, or by its user within a turn.
type Text struct {
	Role string // "assistant" or "user"
	Text string
	At   time.Time
	Stop int64 // where its line ends, from the turn's Start
}

// Tool is one tool call.
type Tool struct {
	ID     string // the agent's id of the call
	Name   string
	Target string // the file or command it acts on, for people; "" if unknown
	// Whole is what Target is the beginning of, such as a command with all its lines; only
	// of calls in a conversation.
	Whole string
	// Description is what the model says that the call does; "" if it says nothing, or the
	// file does not keep it.
	Description string
	At          time.Time
	Failed      bool
	Done        bool // its result is in the file
	Agent       string
	Exit        string // the exit code of a command that has ended; "" where the file tells none
	Stop        int64  // where the line of the call ends, from the turn's Start
	Output      string // what it gave back, where that is kept: see OutputKeeping
	OutputStop  int64  // where its line ends, from the turn's Start; 0: nothing is kept
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

// ReadConversation is the conversation that all of r is. Its only errors are r's.
func ReadConversation(a Adapter, r io.Reader) (Conversation, error) {
	return FeedAll(a.Follow(), r)
}

// FeedAll feeds a parser all of r, and is the conversation then. Its only errors are r's.
func FeedAll(to Follower, r io.Reader) (Conversation, error) {
	buf := make([]byte, 1<<20)
	for {
		n, err := r.Read(buf)
		to.Feed(buf[:n])
		if errors.Is(err, io.EOF) {
			return to.Conversation(), nil
		}
		if err != nil {
			return to.Conversation(), fmt.Errorf("read session: %w", err)
		}
	}
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
	// Home is the user's home: a path may be called by ~ or $HOME. Empty if that is not
	// known.
	Home string
	// Names are what is directly in the old root. Where there are any, no other path
	// below the root is rewritten: in a program that stands in /app, /app/login is a
	// route rather than a file.
	Names []string
	Now   time.Time
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
	Hooks       LaunchHooks
	Server      Server // of Umbra's tools
	SettingsDir string // where a file for this launch alone may be put
	Resumption  Resumption
	// Config is the configuration to be used instead of that of now; nil: none.
	Config *Config
	Env    Environ // what the agent will see
	// Marks are variables by which the hooks of this launch are told apart. What else
	// runs the agent's sessions may have those of another launch: where its settings can
	// set variables, they set these.
	Marks map[string]string
	Dir   string // where it will run
	// ReadFile reads a settings file of the user's: one that the command names,
	// relative to Dir, or one where hooks may be switched off.
	ReadFile func(string) ([]byte, error)
}

// LaunchHooks are the hooks of a launch.
type LaunchHooks struct {
	Command string // empty: none for this launch
	Program string // the file of the agent's program, which tells what hooks it knows; "" if it is not known
}

// Server is the server of Umbra's tools that an agent is handed.
type Server struct {
	Command []string // empty: none for this launch
	// Variables names what the agent has in its environment: some agents give a server
	// what is named alone.
	Variables []string
}

// Resumption is how a tool of a Foreign adapter is resumed.
type Resumption struct {
	How        []string // what it has said of that
	Transcript string   // where the session to resume is
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
