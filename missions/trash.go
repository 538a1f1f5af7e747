package missions

import (
	"slices"
	"strings"
	"time"
)

// RemoveRequest removes missions. With Preview nothing is done; with Force an
// agent that is live is stopped first.
type RemoveRequest struct {
	Caller    Caller   `json:"caller"`
	Missions  []string `json:"missions"`
	Workspace bool     `json:"workspace,omitempty"`
	MadeOnly  bool     `json:"made_only,omitempty"` // with Workspace: one that Umbra has not made stays, and is no error
	Preview   bool     `json:"preview,omitempty"`
	Force     bool     `json:"force,omitempty"`
	// Scratch removes forks that a search has made, for good: see ForkRequest. It has no effect
	// beside other flags, and any other mission is KindConflict.
	Scratch bool `json:"scratch,omitempty"`
	// Left says that the search was killed: what has changed in such a fork goes to the trash.
	Left bool `json:"left,omitempty"`
}

// OnlyReads reports whether a request changes nothing.
func (r RemoveRequest) OnlyReads() bool { return r.Preview }

// RemoveResult lists what was, or would be, removed, and what only exists there.
type RemoveResult struct {
	Missions        []Mission `json:"missions"`
	IgnoredFiles    []string  `json:"ignored_files,omitempty"`
	CopiedFiles     int       `json:"copied_files,omitempty"` // ignored files that the source's workspace has too, unchanged
	UnmergedCommits []string  `json:"unmerged_commits,omitempty"`
	Uncaptured      []string  `json:"uncaptured,omitempty"`
	OtherMissions   []string  `json:"other_missions,omitempty"` // that worked in a workspace which goes
	Trash           []string  `json:"trash,omitempty"`          // where things went
	Kept            []string  `json:"kept,omitempty"`           // and what stays, with the reason
}

// Add puts another removal's result behind this one's.
func (r *RemoveResult) Add(o RemoveResult) {
	r.Missions = append(r.Missions, o.Missions...)
	r.IgnoredFiles, r.UnmergedCommits, r.Uncaptured = append(r.IgnoredFiles, o.IgnoredFiles...), append(r.UnmergedCommits, o.UnmergedCommits...), append(r.Uncaptured, o.Uncaptured...)
	r.CopiedFiles += o.CopiedFiles
	r.OtherMissions, r.Trash, r.Kept = append(r.OtherMissions, o.OtherMissions...), append(r.Trash, o.Trash...), append(r.Kept, o.Kept...)
}

// UnremoveRequest takes a mission out of the trash again.
type UnremoveRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission"` // its name, its id or the beginning of that
}

// TrashRequest asks what is in the trash, or empties it.
type TrashRequest struct {
	Caller Caller `json:"caller"`
	// Missions narrows it to some, by name or id; none is all of them.
	Missions []string `json:"missions,omitempty"`
	// Before leaves out what came there since then; zero is nothing.
	Before time.Time `json:"before,omitzero"`
	Empty  bool      `json:"empty,omitempty"` // removes for good what would be listed
}

// OnlyReads reports whether a request changes nothing.
func (r TrashRequest) OnlyReads() bool { return !r.Empty }

// TrashResult is what is, or was, in the trash.
type TrashResult struct {
	Removed []Removed `json:"removed"`
	Bytes   int64     `json:"bytes"`
	Emptied bool      `json:"emptied"`
	// Left is what was to be removed and is there still.
	Left []LeftInTrash `json:"left,omitempty"`
	// Unfinished is of how many missions the files went before, by themselves, and the removal
	// was cut off. Emptying the whole trash finishes it.
	Unfinished int `json:"unfinished,omitempty"`
}

// LeftInTrash is an item that could not be removed, or only in part.
type LeftInTrash struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	Fix  string `json:"fix,omitempty"`
}

// Removed is a mission that umbra mission rm took away, or the rest of one that
// could not be made. Its snapshots are kept, whatever becomes of the trash.
type Removed struct {
	ID      string      `json:"id"`
	Name    string      `json:"name,omitempty"`
	Project string      `json:"project,omitempty"`
	Ref     string      `json:"ref,omitempty"` // leads to its snapshots
	Items   []TrashItem `json:"items"`         // what emptying the trash removes
	// GoesAt is when that goes by itself at the earliest; zero: it stays.
	GoesAt time.Time `json:"goes_at,omitzero"`
	// Back marks what stayed in the trash of a mission that is none of it any more,
	// such as its ignored files.
	Back bool `json:"back,omitempty"`
	// Unknown marks what may be a removed mission's: not all of them can be read.
	Unknown bool `json:"unknown,omitempty"`
}

// TrashItem is a file or directory in the trash: a workspace with what was in no
// snapshot, its entry of the user's repository, or a copy of a conversation.
type TrashItem struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	// Incomplete: Bytes lacks what may not be read, such as another user's directory.
	Incomplete bool      `json:"incomplete,omitempty"`
	At         time.Time `json:"at"` // its ctime: when it was moved there, or changed there since
}

// HasItems reports whether there is anything to remove, which may take no room at all.
func (r TrashResult) HasItems() bool {
	return slices.ContainsFunc(r.Removed, func(m Removed) bool { return len(m.Items) > 0 })
}

// Size is what all items take, in bytes.
func (r TrashResult) Size() (bytes int64) {
	for _, m := range r.Removed {
		for _, item := range m.Items {
			bytes += item.Bytes
		}
	}
	return bytes
}

// Empties reports whether emptying the trash as asked removes what is m's: what may
// be anybody's, or a mission's that is back, only where it is named.
func (r TrashRequest) Empties(m Removed) bool {
	return !m.Unknown && !m.Back || slices.ContainsFunc(r.Missions, m.Called)
}

// Called reports whether a word means the mission: its name, its id or the beginning
// of that.
func (m Removed) Called(wanted string) bool {
	return wanted != "" && m.Name == wanted || m.ID == wanted || len(wanted) >= 4 && strings.HasPrefix(m.ID, wanted)
}

// TrashExpiry is what becomes of the trash by itself, where the configuration asks for it.
type TrashExpiry struct {
	Keep   string    `json:"keep"` // how long a removed mission's files stay, such as 30d
	NextAt time.Time `json:"next_at,omitzero"`
	// Waiting counts the missions whose files go within the week, the first of them at GoesAt.
	Waiting int       `json:"waiting,omitempty"`
	GoesAt  time.Time `json:"goes_at,omitzero"`
	// EmptiedAt is when files went last by themselves, Emptied of how many missions, Bytes
	// what that gave back.
	EmptiedAt time.Time `json:"emptied_at,omitzero"`
	Emptied   int       `json:"emptied,omitempty"`
	Bytes     int64     `json:"bytes,omitempty"`
	// Problem is why not all went when it was looked last, Fix what to type.
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// ForkExpiry is what becomes of forks by themselves whose agents have ended and whose work is
// elsewhere, where the configuration asks for it.
type ForkExpiry struct {
	Keep   string    `json:"keep"` // how long such a fork stays, such as 14d
	NextAt time.Time `json:"next_at,omitzero"`
	// Waiting names the forks that go to the trash within the week, the first of them at GoesAt.
	Waiting []string  `json:"waiting,omitempty"`
	GoesAt  time.Time `json:"goes_at,omitzero"`
	// WentAt is when forks went there last by themselves, Went how many.
	WentAt time.Time `json:"went_at,omitzero"`
	Went   int       `json:"went,omitempty"`
	// Problem is why not all went when it was looked last, Fix what to type.
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
}
