package missions

// CompareRequest asks what forks have done since their fork points.
type CompareRequest struct {
	Caller Caller   `json:"caller"`
	Forks  []string `json:"forks"`
	Patch  bool     `json:"patch,omitempty"` // with the changed lines
}

// Comparison is what one fork has done, beside the others that it is compared with. What
// its agent's conversation does not tell is nil.
type Comparison struct {
	Mission string     `json:"mission"`
	Address string     `json:"address"` // of the snapshot that is compared with the fork point
	Check   *Check     `json:"check"`   // nil where none was asked for
	Turns   int        `json:"turns"`
	Seconds *float64   `json:"seconds"` // in its turns
	Tokens  *int64     `json:"tokens"`
	Cost    *float64   `json:"cost"` // in US dollars
	Files   int        `json:"files"`
	Lines   LineCounts `json:"lines"`
	Alone   []string   `json:"alone"`  // the paths that no other fork has changed
	Shared  []string   `json:"shared"` // the paths that another fork has changed, too
}

// Check is what the user's command says of a workspace.
type Check struct {
	State    CheckState `json:"state"`
	ExitCode *int       `json:"exit_code"` // nil where it did not end by itself
}

// CheckState is what a check says.
type CheckState string

// The states of checks.
const (
	CheckGood    CheckState = "good"
	CheckBad     CheckState = "bad"
	CheckUnknown CheckState = "unknown" // it can't be told
)

// CheckUntold is the exit code of a check that can't tell, as git bisect run takes it.
const CheckUntold = 125

// NewCheck is what a check says that has ended with an exit code, below 0 for a signal.
func NewCheck(code int) Check {
	switch {
	case code < 0:
		return Check{State: CheckUnknown}
	case code == 0:
		return Check{State: CheckGood, ExitCode: &code}
	case code == CheckUntold:
		return Check{State: CheckUnknown, ExitCode: &code}
	}
	return Check{State: CheckBad, ExitCode: &code}
}

// ComparedFork is a fork with its comparison, and with what that is made of.
type ComparedFork struct {
	Comparison
	Fork      Mission      `json:"fork"`
	ForkPoint string       `json:"fork_point"` // the snapshot
	Changes   []FileChange `json:"changes"`
	Patches   []string     `json:"patches,omitempty"` // one for each of Changes, if they were asked for
}

// Overlap is a file in which live forks of one mission have changed the same lines.
type Overlap struct {
	Path     string   `json:"path"`
	Missions []string `json:"missions"`
	// Lines are those that they have both changed, by their numbers at the fork point;
	// none if they have changed the file as a whole.
	Lines []LineRange `json:"lines"`
}

// LineRange is the lines of a file from one to another, both included.
type LineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}
