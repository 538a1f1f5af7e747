package missions

// Problem is something wrong, and the command that mends it.
type Problem struct {
	Invariant string `json:"invariant,omitempty"` // I1 … I8
	Project   string `json:"project,omitempty"`
	Mission   string `json:"mission,omitempty"`
	Message   string `json:"message"`
	Fix       string `json:"fix,omitempty"`
	// Details are git's own words, or the list of what the message counts.
	Details []string `json:"details,omitempty"`

	ProjectsUnlisted bool `json:"-"` // the projects that there are are not known
}

// Finding is a problem, and how it is mended; Mend is nil where nobody knows.
type Finding struct {
	Problem
	Mend func() error
}

// DoctorRequest asks for a check of every invariant.
type DoctorRequest struct {
	Caller  Caller `json:"caller"`
	Rebuild bool   `json:"rebuild,omitempty"`
	Fix     bool   `json:"fix,omitempty"`
	Known   bool   `json:"known,omitempty"` // from now on what is found is only noted
}

// OnlyReads reports whether a request changes nothing.
func (r DoctorRequest) OnlyReads() bool { return !r.Fix && !r.Rebuild && !r.Known }

// DoctorResult lists what was checked and what is wrong.
type DoctorResult struct {
	Projects  int      `json:"projects"`
	Missions  int      `json:"missions"`
	Snapshots int      `json:"snapshots"`
	Checked   []string `json:"checked"`
	// Verified are the projects in which something borrowed from the user's
	// repository had not been compared with its ids until now.
	Verified []string `json:"verified,omitempty"`
	// SetAside are the directories of damaged files that were mended around:
	// nothing reads them, and they count in the home's budget.
	SetAside []SetAside `json:"set_aside,omitempty"`
	// RuledOut are files that stay captured although a rule leaves them out by now.
	RuledOut []RuledOutFiles `json:"ruled_out,omitempty"`
	Withheld []WithheldPaths `json:"withheld,omitempty"`
	// Lost is what is lost for good and was said before, as a problem.
	Lost []Problem `json:"lost,omitempty"`
	// Known is what is wrong still and was said to be known.
	Known    []Problem `json:"known,omitempty"`
	Problems []Problem `json:"problems"`
	Fixed    []Problem `json:"fixed"`
	Rebuilt  bool      `json:"rebuilt"`
}

// SetAside is a directory that the user may delete, with what it takes on disk.
type SetAside struct {
	Project string `json:"project"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
}
