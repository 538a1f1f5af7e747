package missions

import (
	"context"
	"time"
)

// Imports take in what agents have stored by themselves.
type Imports interface {
	Import(context.Context, ImportRequest) (ImportResult, error)
}

// ImportRequest asks to keep the sessions that lie in the agents' own stores. It may be
// asked again at any time: what is kept already stays as it is.
type ImportRequest struct {
	Caller  Caller `json:"caller"`
	Agent   string `json:"agent,omitempty"` // "" for all
	Since   string `json:"since,omitempty"` // no session that was written last before; as in LogRequest
	Preview bool   `json:"preview,omitempty"`
}

// OnlyReads reports whether nothing is to be changed.
func (r ImportRequest) OnlyReads() bool { return r.Preview }

// ImportResult is what became of the sessions, or would.
type ImportResult struct {
	Preview bool `json:"preview,omitempty"`
	// Sessions are those that were imported, continued or left out, oldest first.
	Sessions []ImportedSession `json:"sessions"`
	Kept     int               `json:"kept"` // sessions that are a mission's, and recorded as they are
	// Daily says that this is done once a day from now on, while Umbra is in use.
	Daily bool `json:"daily,omitempty"`
}

// DailyImport is how sessions are imported by themselves.
type DailyImport struct {
	Agents   []string  `json:"agents"` // or "all"
	LookedAt time.Time `json:"looked_at"`
	NextAt   time.Time `json:"next_at"`
	Imported int       `json:"imported"` // since it was asked for, by themselves
	// LeftOut are the sessions that were left out, the oldest first, without those that an import
	// of the user's has listed so since they were written last.
	LeftOut []ImportedSession `json:"left_out,omitempty"`
	Problem string            `json:"problem,omitempty"`
	Fix     string            `json:"fix,omitempty"`
}

// Count counts the sessions of an outcome.
func (r ImportResult) Count(outcome ImportOutcome) (n int) {
	for _, s := range r.Sessions {
		if s.Outcome == outcome {
			n++
		}
	}
	return n
}

// ImportOutcome is what became of a session.
type ImportOutcome string

// The outcomes of an import.
const (
	ImportNew       ImportOutcome = "imported"  // it is a mission now
	ImportContinued ImportOutcome = "continued" // it was a mission's, and more was said since
	ImportLeftOut   ImportOutcome = "left_out"
)

// ImportedSession is a session of an agent's own store.
type ImportedSession struct {
	Agent     string        `json:"agent"`
	Session   string        `json:"session"`
	File      string        `json:"file"`
	Directory string        `json:"directory,omitempty"` // where its agent worked
	Prompt    string        `json:"prompt,omitempty"`    // the first one, or the last that is recorded where it is continued; in one line and cut
	At        time.Time     `json:"at"`                  // when it was written last
	Bytes     int64         `json:"bytes"`
	Outcome   ImportOutcome `json:"outcome"`
	Mission   string        `json:"mission,omitempty"` // its name
	Reason    string        `json:"reason,omitempty"`  // why it was left out
	Hint      string        `json:"hint,omitempty"`    // what to do about that
}

// ExpiringSessions are sessions that an agent is about to delete and that no mission keeps.
type ExpiringSessions struct {
	Agent    string    `json:"agent"`
	Sessions int       `json:"sessions"`
	KeptDays int       `json:"kept_days"` // for how long the agent keeps one
	FirstAt  time.Time `json:"first_at"`  // when the first is due; it may be past
}
