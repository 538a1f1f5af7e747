package missions

import (
	"context"
	"time"
)

// Searches find where something was said or done.
type Searches interface {
	Search(context.Context, SearchRequest) (SearchResult, error)
}

// SearchPlace is where something was found.
type SearchPlace string

// The places. A command is a tool call too.
const (
	SearchPrompts  SearchPlace = "prompts"
	SearchAnswers  SearchPlace = "answers"
	SearchTools    SearchPlace = "tools"
	SearchCommands SearchPlace = "commands"
	SearchOutput   SearchPlace = "output"   // what tool calls gave back; only where it is asked for
	SearchMessages SearchPlace = "messages" // of snapshots
	SearchPaths    SearchPlace = "paths"
	SearchFiles    SearchPlace = "files" // their content; only where it is asked for
)

// SearchPlaces are all places, in the order in which they are listed.
var SearchPlaces = [...]SearchPlace{SearchPrompts, SearchAnswers, SearchTools, SearchCommands, SearchOutput, SearchMessages, SearchPaths, SearchFiles}

// SearchRequest asks for the moments at which something was said or done, the newest first.
// Several requests make a whole list: each begins after the last hit of the one before.
type SearchRequest struct {
	Caller Caller `json:"caller"`
	// Query is words, all of which are to be in one message, call, path or line of a file,
	// in any order, in capitals or not; or "quoted texts", which are there as they are.
	Query   string        `json:"query"`
	Mission string        `json:"mission,omitempty"` // only what was said and done in it; "": in all projects
	Agent   string        `json:"agent,omitempty"`
	Since   string        `json:"since,omitempty"` // a time as in moments: 10m, 2026-01-31
	In      []SearchPlace `json:"in,omitempty"`    // none: everywhere but in output and files
	After   *SearchHit    `json:"after,omitempty"`
	Limit   int           `json:"limit,omitempty"` // of hits; 0: SearchPage
}

// SearchPage is how many hits a search gives unless asked for another number.
const SearchPage = 100

// SearchResult is a page of hits, the newest first.
type SearchResult struct {
	Hits []SearchHit `json:"hits"`
	More bool        `json:"more"` // there may be more after the last one
}

// SearchHit is a moment at which something was said or done.
type SearchHit struct {
	Address  string      `json:"address"` // can be typed
	Snapshot string      `json:"snapshot"`
	Mission  string      `json:"mission"` // its name
	Project  string      `json:"project"`
	Agent    string      `json:"agent"`
	Turn     int         `json:"turn"`
	At       time.Time   `json:"at"`
	In       SearchPlace `json:"in"`
	Text     string      `json:"text"` // the line with the match, without secrets, and cut around it
	Path     string      `json:"path,omitempty"`
	Line     int         `json:"line,omitempty"`     // of the file
	Exit     string      `json:"exit,omitempty"`     // the exit code of a command
	Subagent string      `json:"subagent,omitempty"` // the agent's id of the subagent that said or did it, or was asked
	Removed  bool        `json:"removed,omitempty"`
	// Order tells hits of one time apart, for After.
	Order string `json:"order"`
}
