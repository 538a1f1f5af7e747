package sessions

// Importer is an adapter of an agent that keeps conversations, or what belongs to
// them, where no file can be put: what is placed for it gets there by commands of
// the agent's.
type Importer interface {
	// Import is what is next to be done for a session that was placed: commands
	// that may run at the same time, all of them beside or none; nil once all is
	// done, and for a session of the agent's own making. command is the mission's,
	// which names the agent's program.
	Import(env Environ, s Session, command []string) ([]Import, error)
}

// Import is a command that takes a placed session into the agent's store.
type Import struct {
	File File     // what it reads: to be placed before it runs, replacing an older one, and removed after it; without a Path none
	Argv []string // to be run in Dir, with Env beside the user's home and path, and nothing else
	Dir  string
	Env  map[string]string
	// Scratch is a directory for what it would else leave in the agent's own, which
	// it makes if it needs it; "" for none. It is removed after it.
	Scratch string
	Done    string // what it prints when it has succeeded: its exit code alone does not tell
	Mark    string // the file to be removed then: until that is gone, it is still to be done; "" if the command itself ends that
	// Beside says that it is what subagents said: the conversation goes on without.
	Beside bool
}
