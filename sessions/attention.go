package sessions

import "time"

// Attending is an Adapter of an agent that says in a file beside its conversations
// whether it works or waits for its user.
type Attending interface {
	// Attends is what the process says which has a session open; empty if there is none.
	// Where several have, it is the one with that pid; 0 is not known.
	Attends(env Environ, id string, pid int) Attention
}

// Answering is an Adapter whose agent tells by KindAnswered when a question of its own
// is answered: nothing else tells of that.
type Answering interface{ Answers() }

// Attention is what an agent says of itself in a file, and for how long it has.
type Attention struct {
	File  string
	Idle  time.Time // since when it has waited for a prompt; zero while it does not
	Asked time.Time // since when it has waited for an answer to a question of its own; zero while it does not
	Busy  time.Time // since when it has worked; zero while it does not
}
