package missions

import "time"

// EnterForkRequest parks a mission, and gives its terminal to a fork of it. Where Umbra has
// not started the mission's agent, the fork is only made: it needs a terminal of its own.
type EnterForkRequest struct {
	Caller Caller `json:"caller"`
	Moment string `json:"moment,omitempty"` // of the mission that is parked; "" is the default mission now
	Topic  string `json:"topic,omitempty"`  // the first prompt of the fork's agent
	// IdleTimeout is after how long without a prompt, a key or work the fork's user is asked
	// whether it goes on, and after how long again it is ended; 0 is never.
	IdleTimeout time.Duration `json:"idle_timeout,omitempty"`
	Yes         bool          `json:"yes,omitempty"` // copy ignored files above the limit
	// InPlace has the fork work in the workspace of the mission, whose files are put back
	// when the fork is left.
	InPlace bool `json:"in_place,omitempty"`
	// Preview says what would happen, and changes nothing.
	Preview bool `json:"preview,omitempty"`
	// Mission is the mission that is parked, Fork the fork once it is made. Both are found
	// out on the way.
	Mission string `json:"mission,omitempty"`
	Fork    string `json:"fork,omitempty"`
}

// OnlyReads reports whether a request changes nothing.
func (r EnterForkRequest) OnlyReads() bool { return r.Preview }

// LeaveForkRequest leaves a side fork: its parent has the terminal again.
type LeaveForkRequest struct {
	Caller Caller `json:"caller"`
	Fork   string `json:"fork,omitempty"` // "" is the default mission; its parked parent names it as well
	// Promote is how the fork's state becomes its parent's first; nil leaves the parent
	// as it is.
	Promote *PromoteRequest `json:"promote,omitempty"`
	// Preview says what would happen, and changes nothing.
	Preview bool `json:"preview,omitempty"`
	// Parent is found out on the way, and Beside too: the parent is not parked, and the
	// fork's terminal ends with it.
	Parent string `json:"parent,omitempty"`
	Beside bool   `json:"beside,omitempty"`
	// TimedOut is the launch whose agent was ended since nobody was at it, "" for none: the
	// parent's agent is told what the fork's has answered last.
	TimedOut string `json:"timed_out,omitempty"`
}

// OnlyReads reports whether a request changes nothing.
func (r LeaveForkRequest) OnlyReads() bool { return r.Preview }

// SideForkResult says what became of a terminal.
type SideForkResult struct {
	Parent     string `json:"parent"`
	ParentName string `json:"parent_name"`
	Fork       string `json:"fork,omitempty"` // not while it is still to be made
	ForkName   string `json:"fork_name,omitempty"`
	// Preview says that nothing was changed: the rest is what would happen. Moment is the
	// address of the past moment that would be forked, "" for now.
	Preview bool   `json:"preview,omitempty"`
	Moment  string `json:"moment,omitempty"`
	// InPlace says that the fork works in the parent's workspace.
	InPlace bool `json:"in_place,omitempty"`
	// Queued says that it happens at the end of the turn, Begun that it happens in a
	// moment: the agent that asked is ended for it. Else it is done.
	Queued bool `json:"queued,omitempty"`
	Begun  bool `json:"begun,omitempty"`
	// Beside says that the parent goes on in a terminal of its own. Opened is what has
	// opened one for a fork that was entered so.
	Beside bool   `json:"beside,omitempty"`
	Opened string `json:"opened,omitempty"`
	// Resume is the command that brings the parent back, where its agent could not be
	// launched in its terminal; or the fork's, where nothing has opened a terminal for it.
	Resume string   `json:"resume,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}
