package missions

// PromoteRequest makes a fork's state its parent's: files, conversation or both.
type PromoteRequest struct {
	Caller           Caller `json:"caller"`
	Fork             string `json:"fork,omitempty"` // "" is the default mission
	FilesOnly        bool   `json:"files_only,omitempty"`
	ConversationOnly bool   `json:"conversation_only,omitempty"`
	KeepOthers       bool   `json:"keep_others,omitempty"` // where both changed the same lines, the parent's stay
	All              bool   `json:"all,omitempty"`         // and these become the fork's
	Preview          bool   `json:"preview,omitempty"`
	WhenIdle         bool   `json:"when_idle,omitempty"`
	Commits          bool   `json:"commits,omitempty"` // fast-forwards the parent's branch to the fork's commits
	Keep             bool   `json:"keep,omitempty"`    // list no forks that could be removed
	Force            bool   `json:"force,omitempty"`
}

// OnlyReads reports whether a request changes nothing.
func (r PromoteRequest) OnlyReads() bool { return r.Preview }

// Check reports what contradicts itself in a request.
func (r PromoteRequest) Check() error {
	if r.Commits && r.ConversationOnly {
		return Errorf(KindUsage, "choose one", "--commits is about files, which --conversation-only leaves alone")
	}
	if r.Commits && r.WhenIdle {
		return Errorf(KindUsage, "choose one",
			"--commits and --when-idle contradict each other: nobody is there at the turn's end to be told why a branch did not move")
	}
	return r.restore("", "fork").Check()
}

// Part is what alone a promotion is of, "files" or "conversation"; "" for both.
func (r PromoteRequest) Part() string { return r.restore("", "").Part() }

// restore is the restore that a promotion is.
func (r PromoteRequest) restore(mission, moment string) RestoreRequest {
	return RestoreRequest{
		Caller: r.Caller, Moment: moment, Mission: mission, FilesOnly: r.FilesOnly, ConversationOnly: r.ConversationOnly,
		KeepOthers: r.KeepOthers, All: r.All, Preview: r.Preview, WhenIdle: r.WhenIdle, Force: r.Force,
	}
}

// Restore is the restore that a promotion of a fork is: of its parent, to a snapshot of
// the fork.
func (r PromoteRequest) Restore(parent, snapshot string, p Promotion) RestoreRequest {
	q := r.restore(parent, snapshot)
	q.Promotion = &p
	return q
}

// Promotion is the fork whose state a restore makes the mission's.
type Promotion struct {
	Fork string `json:"fork"`
	Name string `json:"name"`
	// Tree and Modes are, in a preview, what is in the fork's workspace: no snapshot is
	// taken of it.
	Tree  string `json:"tree,omitempty"`
	Modes []byte `json:"modes,omitempty"` // what the tree can't hold
}

// PromoteResult is the plan of a promotion and, when done, its outcome.
type PromoteResult struct {
	RestoreResult
	From     string `json:"from"` // the fork
	FromName string `json:"from_name"`
	// Branch is the fork's own, Commits what it has there and the parent's branch did
	// not have.
	Branch  string   `json:"branch,omitempty"`
	Commits []Commit `json:"commits,omitempty"`
	// MovedBranch is the parent's branch, if it was moved to these commits; in a plan, if
	// it would be.
	MovedBranch string `json:"moved_branch,omitempty"`
	// Forks are the forks of the parent whose agents have ended, the promoted one first.
	// There are none unless all that the promoted one did came home.
	Forks []ForkRoom `json:"forks,omitempty"`
}

// Commit is a commit of the user's repository.
type Commit struct {
	ID      string `json:"id"`
	Subject string `json:"subject"`
}

// ForkRoom is a fork that could be removed, and what its workspace takes on the disk.
type ForkRoom struct {
	Mission   string `json:"mission"`
	Name      string `json:"name"`
	Workspace string `json:"workspace,omitempty"`
	Bytes     int64  `json:"bytes"`
}
