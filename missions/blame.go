package missions

import (
	"context"
	"time"
)

// Authorship tells who wrote what.
type Authorship interface {
	Blame(context.Context, BlameRequest) (Blame, error)
}

// BlameRequest asks who wrote each line of a file.
type BlameRequest struct {
	Caller Caller `json:"caller"`
	// Path is relative to the caller's directory where that is in the workspace, else to
	// the workspace.
	Path   string `json:"path"`
	Moment string `json:"moment,omitempty"` // "" is the default mission's workspace as it is now
	First  int    `json:"first,omitempty"`  // the first line that is asked for; 0: of the file
	Last   int    `json:"last,omitempty"`   // the last one; 0: of the file
}

// Blame says of each line of a file where it comes from.
type Blame struct {
	Path  string       `json:"path"`
	Lines []BlamedLine `json:"lines"`
}

// Author is what kind of author a line has.
type Author string

// The kinds of authors.
const (
	AuthorMission Author = "mission" // an agent in its turn, or an operation such as a merge
	AuthorOther   Author = "between" // between turns: the user, or another program
	AuthorCommit  Author = "commit"  // a commit of the user's repository
	AuthorUnknown Author = "before"  // it was there before Umbra, and in no commit
	AuthorPruned  Author = "pruned"  // others changed the file too in what was pruned: nobody can tell
)

// BlamedLine is a line, and the first snapshot that has it, or the user's commit.
type BlamedLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	By   Author `json:"by"`
	LineOrigin
}

// LineOrigin is where a line comes from. What does not apply is empty.
type LineOrigin struct {
	Mission  string `json:"mission"` // its name
	Snapshot string `json:"snapshot"`
	Address  string `json:"address"`
	Turn     int    `json:"turn"`
	// FirstTurn is set where turns were pruned: it is of one of those from FirstTurn to Turn.
	FirstTurn int       `json:"first_turn,omitempty"`
	Prompt    string    `json:"prompt"`  // in one line and cut
	Message   string    `json:"message"` // the snapshot's label, or the commit's subject
	Agent     string    `json:"agent"`
	At        time.Time `json:"at"`
	Commit    string    `json:"commit"`
	Path      string    `json:"path,omitempty"` // what the file was called then, where that differs
}
