package missions

import (
	"strings"
	"time"
)

// StatusRequest asks for the state of things here.
type StatusRequest struct {
	Caller Caller `json:"caller"`
	// Brief asks for no more than the missions that work here, as they were last
	// written down: nothing is looked for, and nobody waited for.
	Brief bool `json:"brief,omitempty"`
}

// Status is one glance at Umbra.
type Status struct {
	Daemon       *DaemonStatus    `json:"daemon,omitempty"` // absent in process
	Home         string           `json:"home"`
	Project      *Project         `json:"project,omitempty"`
	Missions     []Mission        `json:"missions"`
	LastSnapshot *Entry           `json:"last_snapshot,omitempty"`
	Walks        []WorkspaceWalks `json:"walks,omitempty"` // since the daemon began to watch
	Unread       []UnreadFiles    `json:"unread,omitempty"`
	// LeftOut are the missions whose snapshots lack files because of a project file.
	LeftOut  []LeftOutFiles  `json:"left_out,omitempty"`
	RuledOut []RuledOutFiles `json:"ruled_out,omitempty"`
	Withheld []WithheldPaths `json:"withheld,omitempty"`
	// Overlaps are where live forks of one mission have changed the same lines.
	Overlaps []Overlap `json:"overlaps,omitempty"`
	// Expiring are the sessions that agents are about to delete.
	Expiring []ExpiringSessions `json:"expiring,omitempty"`
	// DailyImport is how sessions are imported by themselves, nil if they are not.
	DailyImport *DailyImport `json:"daily_import,omitempty"`
	// Prunings are what was dropped by itself of old snapshots, and what will be.
	Prunings []Pruning `json:"prunings,omitempty"`
	// TrashExpiry is what becomes of the trash by itself; nil: nothing.
	TrashExpiry *TrashExpiry `json:"trash_expiry,omitempty"`
	// ForkExpiry is what becomes by itself of forks that are over; nil: nothing.
	ForkExpiry *ForkExpiry `json:"fork_expiry,omitempty"`
	// Budget is what the home takes, once storage.max_bytes is nearly used up; nil before.
	Budget *Budget `json:"budget,omitempty"`
	// Tightening is what becomes of old snapshots by itself once that is reached; nil: nothing.
	Tightening *Tightening `json:"tightening,omitempty"`
	// Pushes are the remotes of any project that missions are pushed to by themselves.
	Pushes   []AutomaticPush `json:"pushes,omitempty"`
	Problems []Problem       `json:"problems"`
	// StoppedReason is why no snapshots are taken now, in a few words: nothing may be
	// written in the home. "" if they are.
	StoppedReason string `json:"stopped,omitempty"`
}

// DaemonStatus describes the process that serves the socket.
type DaemonStatus struct {
	Running     bool      `json:"running"`
	Hangs       bool      `json:"hangs,omitempty"` // one has the home, and does not answer
	PID         int       `json:"pid"`
	Version     string    `json:"version"`
	StartedAt   time.Time `json:"started_at"`
	Socket      string    `json:"socket"`
	Missions    int       `json:"missions"`
	Watches     int       `json:"watches"`
	MemoryBytes int64     `json:"memory_bytes"`
	Overflows   int       `json:"overflows"`
	// Housekeeping is what was last done in each project, newest first.
	Housekeeping []Housekeeping `json:"housekeeping,omitempty"`
	Problem      string         `json:"problem,omitempty"` // why it is of no use as it is
}

// WorkspaceWalks are the walks over every file of a watched workspace: what a watcher
// can't see (writes through a mapping or a hard link, lost events) is found by
// them.
type WorkspaceWalks struct {
	Workspace string    `json:"workspace"`
	Count     int       `json:"count"`
	Corrected int       `json:"corrected"` // changes that no event had reported
	LastAt    time.Time `json:"last_at,omitzero"`
	LastWhy   string    `json:"last_why,omitempty"`
}

// UnreadFiles counts the files that the first snapshot of a workspace took from the
// user's index and that are not read yet.
type UnreadFiles struct {
	Workspace string `json:"workspace"`
	Files     int    `json:"files"`
}

// LeftOutFiles are the files that the newest snapshot of a mission lacks because of the
// workspace's own project file, which an agent may have written.
type LeftOutFiles struct {
	Mission string   `json:"mission"`
	File    string   `json:"file"`
	Files   int      `json:"files"`
	Paths   []string `json:"paths"` // the first of them
}

// RuledOutFiles are files of a mission's newest snapshot that a rule leaves out by now.
// They stay captured, since the snapshots held them when the rule came. What is new is
// left out.
type RuledOutFiles struct {
	Mission string   `json:"mission"`
	Rule    string   `json:"rule"` // one of them, such as ".gitignore: *.log"
	Files   int      `json:"files"`
	Paths   []string `json:"paths"` // the first of them
}

// Sentence says it to the user.
func (r RuledOutFiles) Sentence() string {
	files, stay := "1 file is", "it stays captured, since snapshots hold it"
	if r.Files > 1 {
		files, stay = Itoa(r.Files)+" files are", "they stay captured, since snapshots hold them"
	}
	return files + " ignored now (" + r.Rule + "): " + stay + "; new files that this rule ignores are not captured"
}

// WithheldPaths are files and directories that stay out of a mission's snapshots though no
// rule says so any more: they were ignored until a restore, or the moment that a fork
// begins at. What is made in such a directory stays out too.
type WithheldPaths struct {
	Mission string   `json:"mission"`
	Count   int      `json:"count"`
	Paths   []string `json:"paths"` // the first of them
}

// Sentence says it to the user.
func (w WithheldPaths) Sentence() string {
	names := strings.Join(w.Paths, ", ")
	if more := w.Count - len(w.Paths); more > 0 {
		names += " and " + Itoa(more) + " more"
	}
	return "out of snapshots, since it was ignored until a restore or a fork took the rule away: " + names +
		", with what is made in there; a line !/" + w.Paths[0] + " in .gitignore has it captured"
}

// Housekeeping is what was last done to keep a project's shadow repository fast
// and small.
type Housekeeping struct {
	Project string    `json:"project"`
	At      time.Time `json:"at"`
	// Packed counts objects that were packed together, Removed the loose objects
	// and packs that this made superfluous.
	Packed  int `json:"packed"`
	Removed int `json:"removed"`
	// FreedBytes is what the repository shrank by.
	FreedBytes int64 `json:"freed_bytes"`
	// Mended says what was found damaged of what was borrowed from the user's
	// repository, and stored again.
	Mended string `json:"mended,omitempty"`
	// Problem is why it was not done, or not to its end.
	Problem string `json:"problem,omitempty"`
}
