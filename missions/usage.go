package missions

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
	Problems []Problem   `json:"problems"`
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
