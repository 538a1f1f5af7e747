package missions

import "time"

// UsageRequest asks what Umbra takes on the disk.
type UsageRequest struct {
	Caller Caller `json:"caller"`
}

// Usage is what Umbra takes on the disk, in bytes. What is borrowed from the
// user's repositories is their own and counts nowhere but in Borrowed.
type Usage struct {
	Home     string         `json:"home"`
	Bytes    int64          `json:"bytes"` // all of the home
	Projects []ProjectUsage `json:"projects"`
	Other    []UsageItem    `json:"other"` // what belongs to no project
	// Workspaces that Umbra made, beside the home.
	Workspaces []UsageItem `json:"workspaces"`
	// Freeable is what can be given back, and by which command.
	Freeable []UsageItem `json:"freeable"`
	// Prunings are what was dropped by itself, and what will be.
	Prunings []Pruning `json:"prunings,omitempty"`
	// TrashExpiry is what becomes of the trash by itself; nil: nothing.
	TrashExpiry *TrashExpiry `json:"trash_expiry,omitempty"`
	// ForkExpiry is what becomes by itself of forks that are over; nil: nothing.
	ForkExpiry *ForkExpiry `json:"fork_expiry,omitempty"`
	// Budget is what the home takes, once storage.max_bytes is nearly used up; nil before.
	Budget *Budget `json:"budget,omitempty"`
	// Tightening is what becomes of old snapshots by itself once that is reached; nil: nothing.
	Tightening *Tightening `json:"tightening,omitempty"`
	Problems   []Problem   `json:"problems"`
}

// ProjectUsage is one shadow repository.
type ProjectUsage struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Path       string `json:"path"`
	ShadowRepo string `json:"shadow_repo"`
	Bytes      int64  `json:"bytes"`
	Borrowed   int64  `json:"borrowed_bytes"` // shared with the user's repository
	// Shared is what several missions have in common, such as a fork and its source.
	Shared int64 `json:"shared_bytes"`
	// Double is what is stored twice until the next housekeeping, as after the user's git gc.
	Double int64 `json:"double_bytes"`
	// Rest is what no mission leads to, and what Git needs to find things.
	Rest     int64          `json:"rest_bytes"`
	Missions []MissionUsage `json:"missions"`
}

// MissionUsage is what is stored of one mission alone.
type MissionUsage struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	State   StateName `json:"state"`
	Removed bool      `json:"removed"` // it is in the trash
	Files   int64     `json:"files_bytes"`
	Records int64     `json:"conversation_bytes"` // and what else is recorded with snapshots
}

// UsageItem is something that takes room.
type UsageItem struct {
	What  string `json:"what"`
	Path  string `json:"path,omitempty"`
	Bytes int64  `json:"bytes"`
	Fix   string `json:"command,omitempty"` // what gives it back
}

// Budget is what a home takes of what storage.max_bytes lets it take.
type Budget struct {
	Bytes      int64     `json:"bytes"`
	MaxBytes   int64     `json:"max_bytes"`
	MeasuredAt time.Time `json:"measured_at"`
}

// Tightening is what becomes of old snapshots by itself once storage.max_bytes is reached, where
// the configuration asks for pruning by itself.
type Tightening struct {
	// Policy is what stays at least, in one line, and From the moment from which on it may come
	// to that.
	Policy string    `json:"policy"`
	From   time.Time `json:"from,omitzero"`
	// PrunedAt is when snapshots went last for that, Kept what stayed, Dropped how many went, Bytes
	// what that gave back.
	PrunedAt time.Time `json:"pruned_at,omitzero"`
	Kept     string    `json:"kept,omitempty"`
	Dropped  int       `json:"dropped,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"`
	// Problem is why not all was done when it was tried last, Fix what to type.
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// IsReached reports whether nothing more is written.
func (b Budget) IsReached() bool { return b.Bytes > b.MaxBytes }

// Pruning is what becomes of a project's old snapshots by itself.
type Pruning struct {
	Project   string `json:"project"`
	ProjectID string `json:"project_id"`
	Policy    string `json:"policy"` // what stays, in one line
	// NextAt is from when on it is looked next, at an idle moment.
	NextAt time.Time `json:"next_at,omitzero"`
	// Waiting counts the snapshots that go then: nothing goes before it was said.
	Waiting int `json:"waiting,omitempty"`
	// PrunedAt is when snapshots went last, Dropped how many, Bytes what that gave back.
	PrunedAt time.Time `json:"pruned_at,omitzero"`
	Dropped  int       `json:"dropped,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"`
	// Problem is why it could not be ended when it was looked last, Fix what to type.
	Problem string `json:"problem,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// PruneRequest asks to drop old snapshots. Where the policy says nothing, the
// configuration does.
type PruneRequest struct {
	Caller Caller `json:"caller"`
	// Missions narrows it to some, by name; none is all of the caller's project.
	Missions []string `json:"missions,omitempty"`
	All      bool     `json:"all,omitempty"` // of every project
	Preview  bool     `json:"preview,omitempty"`
	// At is the moment from which the ages are counted, zero for now: what was shown goes,
	// and nothing that has become old since.
	At     time.Time   `json:"at,omitzero"`
	Policy PrunePolicy `json:"policy,omitzero"`
}

// OnlyReads reports whether nothing is to be changed.
func (r PruneRequest) OnlyReads() bool { return r.Preview }

// PrunePolicy says how much of a mission's history stays; nil is what is configured.
type PrunePolicy struct {
	KeepLast   *int           `json:"keep_last,omitempty"`
	KeepWithin *time.Duration `json:"keep_within,omitempty"`
	KeepHourly *int           `json:"keep_hourly,omitempty"`
	KeepDaily  *int           `json:"keep_daily,omitempty"`
}

// PruneResult is what was dropped, or would be.
type PruneResult struct {
	Preview  bool            `json:"preview,omitempty"`
	At       time.Time       `json:"at"`
	Policy   string          `json:"policy"` // in one line
	Missions []PrunedMission `json:"missions"`
	// Owed says that what was dropped before was not all given back yet: it would be now.
	Owed bool `json:"owed,omitempty"`
	// Lost counts the objects that umbra doctor has said are lost for good: what needs one of
	// those stays as it is.
	Lost int `json:"lost,omitempty"`
	// Problems are the projects that were left as they are, of --all.
	Problems []Problem `json:"problems,omitempty"`
	// Bytes is what is given back: what the disk has more after it, as long as nothing else
	// writes; of a preview about that.
	Bytes int64 `json:"bytes"`
}

// Pruned counts the snapshots that go.
func (r PruneResult) Pruned() (n int) {
	for _, m := range r.Missions {
		n += m.Pruned
	}
	return n
}

// PrunedMission is what becomes of a mission's own snapshots.
type PrunedMission struct {
	ID      string `json:"id"`
	Mission string `json:"mission"`
	Project string `json:"project"`
	Removed bool   `json:"removed,omitempty"` // it is in the trash
	Kept    int    `json:"kept"`
	Pruned  int    `json:"pruned"`
	// Bytes is about what those take that go, and nothing else needs.
	Bytes int64 `json:"bytes"`
	// Moments are the snapshots that go, the newest first.
	Moments []PrunedMoment `json:"moments"`
	// Why counts the kept snapshots by the reason: tip, last, within, hourly, daily, start,
	// fork_point, pin, undo, conversation, unpushed, in_use, shared, merged, turn. One may have several.
	Why map[string]int `json:"why"`
	// SharedWith are missions that are not pruned and have snapshots of this one in their
	// histories: those stay until they are pruned, too.
	SharedWith []string `json:"shared_with,omitempty"`
}

// PrunedMoment is a snapshot that goes.
type PrunedMoment struct {
	Address  string    `json:"address"`
	Snapshot string    `json:"snapshot"`
	Turn     int       `json:"turn"`
	Prompt   string    `json:"prompt"` // of its turn, in one line and cut
	At       time.Time `json:"at"`
	// TurnsBack says how many turns of the mission came after its own, each snapshot outside
	// of turns counted as one. With its age that is why no policy keeps it.
	TurnsBack int `json:"turns_back"`
}
