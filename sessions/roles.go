package sessions

import (
	"io"
	"iter"
	"time"
)

// Relocatable is an Adapter whose agent's store goes by environment variables too.
type Relocatable interface {
	// Variables names the environment variables the adapter reads, such as
	// CLAUDE_CONFIG_DIR. Only these are kept with a mission; never secrets.
	Variables() []string
	// StoreVariables names those of Variables that decide where the conversations
	// are: Root and Path follow from them and the home directory. An agent that goes
	// on with a conversation is given them as they were when it was begun.
	StoreVariables() []string
}

// Listing is an Adapter that finds the sessions in its agent's store.
type Listing interface {
	// Stored are the main files of the sessions that are in the store now, in no order,
	// without those of subagents. It reads directories, and no more of a file than tells
	// whose it is. What can't be read holds no session.
	Stored(env Environ) iter.Seq[string]
}

// Sweeping is an Adapter whose agent deletes conversations by itself.
type Sweeping interface {
	// KeptFor is how long the agent keeps a conversation after the last change of its
	// file, by the settings of its user; 0 where it deletes none.
	KeptFor(env Environ, readFile func(string) ([]byte, error)) time.Duration
}

// Sided is an Adapter whose agent's sessions have further files.
type Sided interface {
	// Sides lists the session's side files, as they are on disk now, in the
	// order of their names.
	Sides(env Environ, s Session) ([]Side, error)
	// PlaceSides maps the side files of a session to those of its rewritten
	// copy: where they go and what is in them. open reads a side's bytes.
	PlaceSides(env Environ, sides []string, open func(name string) (io.ReadCloser, error), to Rewrite) ([]File, error)
}

// Dated is an Adapter whose agent goes on, where its user names no session, with the one
// whose file was written last, of any directory: a fork must not be that.
type Dated interface {
	// WrittenAt is when the main file of a copied session counts as written last; zero is
	// now.
	WrittenAt(env Environ, to Rewrite) time.Time
}

// Trailing is an Adapter whose agent writes what was said a moment after its hooks tell of
// it, and does not tell them its last words: at a turn's end its file may show nothing of
// the turn.
type Trailing interface{ Trails() }

// SideChoosing is a Sided whose agent would go on with side files of what came after a cut.
type SideChoosing interface {
	Sided
	// SidesOf are those of a session's side files, by their names, that belong to its
	// conversation as it was cut. open reads a side's bytes.
	SidesOf(conversation io.Reader, sides []string, open func(name string) (io.ReadCloser, error)) ([]string, error)
}

// Delegating is a Sided whose agent's subagents have conversations of their own, in side files
// that Follow reads like the session's.
type Delegating interface {
	Adapter
	Sided
	// Subagent is the agent's id of the subagent whose conversation a side file is, by its
	// name; false if it is none.
	Subagent(side string) (id string, ok bool)
}

// WorktreeMaking is an Adapter whose agent's command may ask for a worktree of the
// agent's own to work in.
type WorktreeMaking interface {
	// WithoutWorktree is a command of the agent that works where it is started.
	WithoutWorktree(command []string) []string
}

// Headless is an Adapter whose agent can answer one prompt without a terminal, and ends
// then.
type Headless interface {
	// Headless is a command of the agent that does so with the prompt of its launch. A
	// prompt that the command itself has is left out. already says that the command
	// runs without a terminal as it is.
	Headless(command []string) (answering []string, already bool)
}

// Modelled is an Adapter whose agent is told by its command line which model to use.
type Modelled interface {
	// WithModel is a command of the agent that names this model, and no other.
	WithModel(command []string, model string) []string
}

// Registering is an Adapter whose agent keeps a registry of the sessions that are
// open.
type Registering interface {
	// Live reports the process that has the session open, if it still lives.
	Live(env Environ, id string) (pid int, ok bool)
}

// EndCutting is an Adapter that can cut a conversation without reading its beginning.
type EndCutting interface {
	// CutEnd is Cut for a conversation of which r gives only what follows its
	// first bytes, from on. Length is that of the whole; Events counts the lines
	// that r gave. It is false where what came before may matter: then more is
	// to be read.
	CutEnd(r io.Reader, from int64) (Cut, bool, error)
}

// Replacing is an Adapter whose agent writes again, later in its file, what it has
// said in an earlier turn: a conversation can only be read from its beginning on.
type Replacing interface{ Replaces() }

// Foreign is the Adapter of tools that Umbra does not know and that call it by
// themselves. Its conversations are bytes: what was said in one, hooks tell alone.
type Foreign interface {
	Adapter
	Hooked
	// Resumable reports whether a tool that says of itself that it is resumed by
	// these words (see Event.Resume) can go on from a copy of its conversation.
	Resumable(how []string) bool
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

// Forgetting is an Adapter of an agent of which some versions write into the session's file
// nothing of what hooks add to a prompt.
type Forgetting interface {
	// Forgets reports whether the version that has written the session's file last is one.
	Forgets(path string) bool
}

// Packaged is a Versioned whose sessions do not tell, but the program that runs.
type Packaged interface {
	Versioned
	// Installed is the version of the program that a command line runs, "" if that
	// is not the agent or does not tell.
	Installed(argv []string) string
}

// Switcher is an adapter whose agent goes over to another session by what its
// user types in it.
type Switcher interface {
	// Switch is what to type; with no id, to begin a new session.
	Switch(id string) string
}
