package missions

import (
	"path/filepath"
	"slices"
	"strings"
)

// MergeRequest merges missions into another one, step by step. A merge that can't be ended
// at once waits, with what was chosen, until a later step ends it or takes it back.
type MergeRequest struct {
	Caller Caller    `json:"caller"`
	Step   MergeStep `json:"step"`
	Forks  []string  `json:"forks,omitempty"`  // of MergeBegin
	Into   string    `json:"into,omitempty"`   // "": their parent, or the one merge that waits
	Auto   MergeAuto `json:"auto,omitempty"`   // "" is as before, MergeLow at first
	Check  string    `json:"check,omitempty"`  // a command; "" is as before
	Merger string    `json:"merger,omitempty"` // an agent that proposes what paths become; "" is as before
	// Attempts is how often that agent is asked in all, where the check does not pass; 0 is 2.
	Attempts int `json:"attempts,omitempty"`
	// Driver merges texts in Git's stead; the zero value is as before, Git at first, and NoDriver
	// is Git again.
	Driver  MergeDriver `json:"driver,omitzero"`
	Preview bool        `json:"preview,omitempty"`
	Force   bool        `json:"force,omitempty"` // whatever the agents or Git do, and whatever the check says
	// Choices are of MergeResolve.
	Choices []MergeChoice `json:"choices,omitempty"`
	// Checked is, of MergeContinue, what the check said of a tree.
	Checked *MergeCheck `json:"checked,omitempty"`
	// Proposed is, of MergeProposed, how the merger has ended.
	Proposed *MergerEnd `json:"proposed,omitempty"`
	// Merge is the ID of the one merge that the step is meant for, "" for any that waits.
	Merge string `json:"merge,omitempty"`
	// Leave ends a merge though missions are there that it has made, see MergeTrial.Left.
	Leave bool `json:"leave,omitempty"`
	// Texts are, of MergeStatus, the paths whose texts are wanted.
	Texts []Path `json:"texts,omitempty"`
}

// MergeDriver is a program that Git has merge texts.
type MergeDriver struct {
	Name    string `json:"name,omitempty"`
	Program string `json:"program,omitempty"` // its path
}

// NoDriver is the name of the driver that is none: Git merges by itself.
const NoDriver = "none"

// MergeDrivers are the drivers that are known, with the names of their programs.
func MergeDrivers() map[string]string {
	return map[string]string{"mergiraf": "mergiraf", "weave": "weave-driver"}
}

// OnlyReads reports whether a request changes nothing.
func (r MergeRequest) OnlyReads() bool { return r.Preview || r.Step == MergeStatus }

// MergeStep is what a request does with a merge.
type MergeStep string

// The steps of a merge.
const (
	MergeBegin    MergeStep = "begin"    // and end it, where nothing is open
	MergeContinue MergeStep = "continue" // end it, if nothing is open any more
	MergeScratch  MergeStep = "scratch"  // make a workspace in which the check can run
	MergePropose  MergeStep = "propose"  // make a mission whose agent proposes what paths become
	MergeProposed MergeStep = "proposed" // take over what that agent has written
	MergeResolve  MergeStep = "resolve"  // choose what becomes of paths
	MergeStatus   MergeStep = "status"
	MergeAbort    MergeStep = "abort"
)

// MergeAuto is up to which severity a merge takes what Git merged without asking.
type MergeAuto string

// The values of MergeAuto.
const (
	MergeNone   MergeAuto = "none"
	MergeLow    MergeAuto = "low"
	MergeMedium MergeAuto = "medium"
)

// Severity is how much a person has to look at what became of a path.
type Severity string

// The severities, the least one first.
const (
	SeverityLow      Severity = "low"      // one side alone changed it, or both did the same
	SeverityMedium   Severity = "medium"   // both changed it, and Git merged that
	SeverityHigh     Severity = "high"     // both changed the same lines
	SeverityCritical Severity = "critical" // no lines to choose from
)

// MergeTake is what a user chooses for a path.
type MergeTake string

// What can be chosen, beside the name of a mission that is merged.
const (
	TakeOurs   MergeTake = "ours"   // of the mission that is merged into
	TakeTheirs MergeTake = "theirs" // of the mission that is merged
	TakeBoth   MergeTake = "both"   // the lines of all, ours first
	TakeMerged MergeTake = "merged" // what Git made
	TakeFile   MergeTake = "file"   // Content
	// TakeProposal is what an agent has proposed.
	TakeProposal MergeTake = "proposal"
)

// Typed is what a user types for it: FILE stands for the name of a file.
func (t MergeTake) Typed() string {
	if t == TakeFile {
		return "FILE"
	}
	return string(t)
}

// MergeChoice is what becomes of a path.
type MergeChoice struct {
	Path    Path      `json:"path"`
	Take    MergeTake `json:"take"`
	Content []byte    `json:"content,omitempty"` // of TakeFile
	// Typed is, of TakeFile, the name of the file if that could also be another choice, which
	// then counts.
	Typed string `json:"typed,omitempty"`
}

// MergeCheck is what the check said of a merged tree.
type MergeCheck struct {
	Tree  string `json:"tree"`
	Check Check  `json:"check"`
	// Output is the end of what it printed, for an agent that is to mend it.
	Output string `json:"output,omitempty"`
}

// MergeSide is a mission that is merged.
type MergeSide struct {
	Mission string `json:"mission"`
	Address string `json:"address"` // of the snapshot that is merged
	Base    string `json:"base"`    // the newest moment that both have in common
}

// MergedPath is a path of a merge, and how much of a question it is.
type MergedPath struct {
	Path     Path           `json:"path"`
	Missions []string       `json:"missions"` // that changed it
	Severity Severity       `json:"severity"`
	Auto     bool           `json:"auto"` // taken without a question
	Reason   string         `json:"reason"`
	Options  []MergeTake    `json:"options"`
	Chosen   string         `json:"chosen,omitempty"` // by the user
	Texts    *MergeTexts    `json:"texts,omitempty"`  // where they were asked for
	Proposal *MergeProposal `json:"proposal,omitempty"`
}

// MergeProposal is what an agent proposes that a path becomes.
type MergeProposal struct {
	By      string `json:"by"`                // the agent
	Reason  string `json:"reason,omitempty"`  // as the agent gave it
	Refused string `json:"refused,omitempty"` // why it can't be taken
	Checked bool   `json:"checked,omitempty"` // the check passes with it
	// Content, and what it changes since the sides were one, are there where texts were asked for.
	Content []byte `json:"content,omitempty"`
	Patch   string `json:"patch,omitempty"`
}

// MergerEnd is how an agent has ended that was to propose what paths become.
type MergerEnd struct {
	Mission string `json:"mission"`           // in which it has worked
	Problem string `json:"problem,omitempty"` // "" where it has ended well
	Answer  string `json:"answer,omitempty"`  // its last one, which has its reasons
}

// MergeTexts are what the sides have at a path, for whoever merges it by hand. They are
// empty where a side has no text there.
type MergeTexts struct {
	Sides  []MergeText `json:"sides"`
	Merged []byte      `json:"merged"` // by Git, with marks where lines conflict
}

// MergeText is what a mission has changed at a path.
type MergeText struct {
	Mission string `json:"mission"`
	Patch   string `json:"patch"` // since what it has in common with the others
	Deleted bool   `json:"deleted,omitempty"`
	Absent  bool   `json:"absent,omitempty"` // neither before nor now is it there
}

// MergeResult is the plan of a merge and, when done, its outcome.
type MergeResult struct {
	Base      string         `json:"base"` // of the first that is merged
	Into      string         `json:"into"`
	From      []MergeSide    `json:"from"`
	Result    string         `json:"result"`    // the snapshot that it became, "" while there is none
	Taken     []MergedPath   `json:"taken"`     // without a question, or as the user chose
	Conflicts []MergedPath   `json:"conflicts"` // that are open
	Check     *Check         `json:"check"`
	Done      bool           `json:"done"`
	Aborted   bool           `json:"aborted,omitempty"`
	Notes     []string       `json:"notes,omitempty"`
	Restore   *RestoreResult `json:"restore,omitempty"` // what was changed in the workspace
	MergeTrial
}

// MergeTrial is what is still to be run for a merge, in workspaces of its own.
type MergeTrial struct {
	// CheckCommand is to be run in Scratch, a workspace that MergeScratch makes, and its
	// answer goes with Tree to MergeContinue.
	CheckCommand string   `json:"check_command,omitempty"`
	Tree         string   `json:"tree,omitempty"`
	IntoID       string   `json:"into_id,omitempty"`
	ID           string   `json:"id,omitempty"` // of the merge, while it waits
	Scratch      *Mission `json:"scratch,omitempty"`
	// Left are the missions that a merge has made for its check and its merger, and that nothing
	// needs any more. A merge that is Done or Aborted waits until the same step is asked with
	// Leave, or none is there: a process that is killed while it removes them leaves none behind.
	Left []Mission `json:"left,omitempty"`
	// ProposedTree is Tree with all that is proposed, where nothing else is open; "" else,
	// and once the check has said what it thinks of it.
	ProposedTree string `json:"proposed_tree,omitempty"`
	// Merger is the agent that is to propose what paths become, "" if none is or it has.
	// MergePropose makes Scratch, in which it works.
	Merger string `json:"merger,omitempty"`
}

// NeedsCheck reports whether the check must run: before the merge can end, or before
// proposals are accepted.
func (r MergeResult) NeedsCheck() bool {
	isSettled := len(r.Conflicts) == 0 && r.Check == nil
	return (isSettled || r.ProposedTree != "") && r.CheckCommand != "" && !r.Done && !r.Aborted
}

// NeedsMerger reports whether an agent is to propose what paths become.
func (r MergeResult) NeedsMerger() bool { return r.Merger != "" && !r.Done && !r.Aborted }

// Merge is a merged tree that a restore makes a mission's: see Service.Merge.
type Merge struct {
	ID    string   `json:"id"`
	Names []string `json:"names"`
	Tips  []string `json:"tips"` // the snapshots that were merged
	Ours  string   `json:"ours"` // the tree of the mission that was merged
	Tree  string   `json:"tree"`
	Modes []byte   `json:"modes"` // what the tree can't hold
	// Scratch says that the mission is a workspace for the check: no agent is told.
	Scratch bool `json:"scratch,omitempty"`
}

// Verify reports what contradicts itself in a request, or is missing.
func (r MergeRequest) Verify() error {
	begins := r.Step == MergeBegin
	switch {
	case begins && len(r.Forks) == 0:
		return Errorf(KindUsage, "umbra merge FORK", "name the missions to merge")
	case !begins && len(r.Forks) > 0:
		return Errorf(KindUsage, "umbra merge "+strings.Join(r.Forks, " ")+" begins one; of one that waits, the same without names",
			"this is a step of a merge that waits, which knows what it merges")
	case r.Attempts < 0:
		return Errorf(KindUsage, "give a number from 1", "--merger-attempts %d makes no sense", r.Attempts)
	case r.Step == MergeProposed && (r.Proposed == nil || r.Proposed.Mission == ""):
		return Errorf(KindUsage, "umbra merge --continue", "it is not said which agent has ended")
	case !slices.Contains([]MergeAuto{"", MergeNone, MergeLow, MergeMedium}, r.Auto):
		return Errorf(KindUsage, "use --auto none, low or medium", "--auto is %q", r.Auto)
	}
	return r.Driver.verify()
}

func (d MergeDriver) verify() error {
	switch {
	case d.Name == "" || d.Name == NoDriver:
		return nil
	case MergeDrivers()[d.Name] == "":
		return Errorf(KindUsage, "--driver mergiraf, weave or none", "%s is no driver that umbra knows", d.Name)
	case !filepath.IsAbs(d.Program):
		return Errorf(KindUsage, "name its program by a whole path", "the program of %s is %q", d.Name, d.Program)
	}
	return nil
}
