package missions

import "time"

// Update is text from one mission for the agent of another, which its next prompt
// carries.
type Update struct {
	ID      string `json:"id"`
	Mission string `json:"mission"` // whose agent is told
	From    string `json:"from"`    // the mission that the text is of
	FromID  string `json:"from_id"`
	// FromSession is the conversation that the text is from.
	FromSession string     `json:"from_session,omitempty"`
	Kind        UpdateKind `json:"kind"`
	Text        string     `json:"text"`
	Topic       string     `json:"topic,omitempty"` // what From was about
	// Since and SinceTurn are the moment of Mission that From began at: the text is of
	// what came after it.
	Since       time.Time `json:"since,omitzero"`
	SinceTurn   int       `json:"since_turn,omitempty"`
	At          time.Time `json:"at"`                    // when it was queued
	DeliveredAt time.Time `json:"delivered_at,omitzero"` // with which prompt; zero while it waits
	ClearedAt   time.Time `json:"cleared_at,omitzero"`   // when its user took it out of the queue
	// Peeked says that it waits for the mission that this one was forked from: this one
	// is told too, and leaves it there.
	Peeked bool `json:"peeked,omitempty"`
	// Own says why it is delivered though no prompt carried it: the agent has said it
	// itself, as that of From, before From was promoted.
	Own bool `json:"own,omitempty"`
}

// Waits reports whether the agent is still to be told.
func (u Update) Waits() bool { return u.DeliveredAt.IsZero() && u.ClearedAt.IsZero() }

// UpdateKind is what an update tells of.
type UpdateKind string

// The kinds of updates.
const (
	UpdateReport   UpdateKind = "report"   // the fork's own words
	UpdateRestored UpdateKind = "restored" // a fork was put back to before something that it has reported
	UpdateMerged   UpdateKind = "merged"   // forks were merged into the mission
	UpdateChecked  UpdateKind = "checked"  // a check has passed or failed
	UpdateTimeout  UpdateKind = "timeout"  // a fork's agent was ended, since its time was over
)

// MaxUpdateBytes bounds an update's text. What a prompt carries of it is less: see the
// room of updates.
const MaxUpdateBytes = 1 << 20

// ReportRequest queues what a fork found, or what became of it, for the mission that it was
// forked from.
type ReportRequest struct {
	Caller Caller `json:"caller"`
	// ID names the update, so that a call whose answer was cut off can be made again;
	// "" for a new one.
	ID   string `json:"id,omitempty"`
	Fork string `json:"fork,omitempty"` // "" is the default mission
	Text string `json:"text,omitempty"` // "" is the last answer of the fork's agent
	// Kind is UpdateReport, as "" is, or what is told of the fork: UpdateTimeout, or
	// UpdateChecked with a text.
	Kind UpdateKind `json:"kind,omitempty"`
}

// ReportResult is what was queued, and for whom.
type ReportResult struct {
	Update Update    `json:"update"`
	State  StateName `json:"state"` // of the mission that is told
	// Untold says why no prompt of the parent will carry it by itself; "" if one will.
	Untold string `json:"untold,omitempty"`
}

// UpdatesRequest lists the updates for a mission's agent, or clears those that wait.
type UpdatesRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"` // "" is the default mission
	All     bool   `json:"all,omitempty"`     // the delivered and the cleared ones too
}
