package missions

import "time"

// LogRequest asks for a mission's snapshots, newest first.
type LogRequest struct {
	Caller           Caller    `json:"caller"`
	Mission          string    `json:"mission,omitempty"`
	Limit            int       `json:"limit,omitempty"` // 0: all
	After            string    `json:"after,omitempty"` // the id of a snapshot: those behind it in the list; not with Graph or All
	Since            string    `json:"since,omitempty"` // a time as in moments: 10m, 2026-01-31
	State            StateName `json:"state,omitempty"`
	Path             string    `json:"path,omitempty"` // by its name at the moment; a file is followed over its renames
	Grep             string    `json:"grep,omitempty"`
	Ops              bool      `json:"ops,omitempty"`   // only Umbra's own operations
	Lines            bool      `json:"lines,omitempty"` // count lines too
	Graph            bool      `json:"graph,omitempty"` // the missions forked from it as well
	All              bool      `json:"all,omitempty"`   // every mission of the project
	Changes          bool      `json:"changes,omitempty"`
	Patch            bool      `json:"patch,omitempty"`
	WithConversation bool      `json:"said,omitempty"`
}

// ShowRequest asks for one moment.
type ShowRequest struct {
	Caller Caller `json:"caller"`
	Moment string `json:"moment"`
	Brief  bool   `json:"brief,omitempty"` // without the patch
	// Paths are those whose changes are meant, none for all.
	Paths []string `json:"paths,omitempty"`
	// Tolerant is as in a DiffRequest.
	Tolerant bool `json:"tolerant,omitempty"`
}

// ShowResult is a moment, whole.
type ShowResult struct {
	Entry        Entry              `json:"snapshot"`
	Prompt       string             `json:"prompt,omitempty"`
	From         string             `json:"from,omitempty"` // the address of what it was restored, forked or promoted from
	Skipped      []PathReason       `json:"skipped,omitempty"`
	Changing     []string           `json:"changing,omitempty"`
	Displaced    []string           `json:"displaced,omitempty"` // written by others while it was restored, and kept
	Git          GitState           `json:"git"`
	Conversation []ConversationLine `json:"conversation,omitempty"`
	NotTakenUp   []Prompt           `json:"not_taken_up,omitempty"` // sent by then, and not taken up by the agent yet
	Files        []FileChange       `json:"files"`
	Patch        string             `json:"patch,omitempty"`
	// Unpaired counts new files that may be renamed ones which were edited: they were
	// too many to be compared with those that are gone.
	Unpaired int `json:"unpaired,omitempty"`
	// Lost are changed files whose content can't be read; they are not among Files.
	Lost []PathReason `json:"lost,omitempty"`
}

// ConversationLine is one line of a conversation.
type ConversationLine struct {
	Role string    `json:"role"` // user, assistant, tool
	Text string    `json:"text"`
	At   time.Time `json:"at"`
}

// CatRequest asks for a file as it was. Path is relative to the caller's
// directory where that is inside the workspace, else to the workspace; FromTop
// to the workspace always, as the paths of a FileChange are.
type CatRequest struct {
	Caller  Caller `json:"caller"`
	Moment  string `json:"moment"`
	Path    string `json:"path"`
	FromTop bool   `json:"from_top,omitempty"`
	// Displaced asks for what another program wrote there while a restore ran.
	Displaced bool `json:"displaced,omitempty"`
}

// ForgetRequest asks to take a path out of the snapshots of a mission's project.
type ForgetRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"`
	Path    string `json:"path"`
}

// Holders are the missions whose snapshots hold a path.
type Holders struct {
	Path      string   `json:"path"` // in the workspace
	Project   string   `json:"project"`
	Dir       string   `json:"dir"` // where all that is kept of the project is
	Missions  []Holder `json:"missions"`
	Snapshots int      `json:"snapshots"`
	Trash     []string `json:"trash,omitempty"` // the project's missions in it, by names that umbra trash empty takes
	Captured  bool     `json:"captured"`        // a newest snapshot holds it: the next one will as well
	// CapturedPaths are what the path is in those, whose workspaces may be others; that
	// of a directory ends in a slash.
	CapturedPaths []string   `json:"captured_paths,omitempty"`
	Repository    string     `json:"repository,omitempty"` // the user's own repository, if it has the content too
	Pushed        []PushedTo `json:"pushed,omitempty"`     // the remotes that have some of these missions
}

// PushedTo is a remote, and its refs of missions that hold the path. Of a file that was
// imported it is the file.
type PushedTo struct {
	Remote  string   `json:"remote"`
	Refs    []string `json:"refs,omitempty"`
	File    string   `json:"file,omitempty"`
	Fetched bool     `json:"fetched,omitempty"` // what was fetched from it has the path
}

// Holder is a mission, and which of its own snapshots hold a path.
type Holder struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"` // "" of a mission that only pins and forks keep
	Removed   bool      `json:"removed,omitempty"`
	Live      bool      `json:"live,omitempty"`
	Remote    string    `json:"remote,omitempty"` // where it was fetched from
	Snapshots int       `json:"snapshots"`
	Oldest    string    `json:"oldest"`
	OldestAt  time.Time `json:"oldest_at"`
	Newest    string    `json:"newest"`
	NewestAt  time.Time `json:"newest_at"`
}

// DiffRequest compares two moments. No From: the snapshot before the last
// prompt. No To: the workspace as it is now.
type DiffRequest struct {
	Caller       Caller   `json:"caller"`
	From         string   `json:"from,omitempty"`
	To           string   `json:"to,omitempty"`
	Turn         int      `json:"turn,omitempty"`
	Conversation bool     `json:"conversation,omitempty"`
	Patch        bool     `json:"patch,omitempty"`
	Paths        []string `json:"paths,omitempty"`
	// Tolerant names the files whose content is lost, and shows the rest. Otherwise they
	// are an error: who judges a change must see all of it.
	Tolerant bool `json:"tolerant,omitempty"`
}

// Difference is what lies between two moments.
type Difference struct {
	From         string           `json:"from"`
	To           string           `json:"to"` // "" is the workspace now
	Files        []FileChange     `json:"files"`
	Conversation ConversationDiff `json:"conversation"`
	Patch        string           `json:"patch,omitempty"`
	// LeftOut are files that differ and that no snapshot holds.
	LeftOut []PathReason `json:"left_out,omitempty"`
	// Unpaired counts new files that may be renamed ones which were edited: they were
	// too many to be compared with those that are gone.
	Unpaired int `json:"unpaired,omitempty"`
	// Lost are changed files whose content can't be read; they are not among Files.
	Lost []PathReason `json:"lost,omitempty"`
}

// ConversationDiff is what was said between two moments.
type ConversationDiff struct {
	EventsAdded int                `json:"events_added"`
	Lines       []ConversationLine `json:"said,omitempty"`
}

// FileChange is one path that differs.
type FileChange struct {
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty"`
	// Similarity is how much of a renamed file was in it before, in percent.
	Similarity int    `json:"similarity,omitempty"`
	Type       string `json:"type"` // added, modified, deleted, renamed, mode, type
	Added      int    `json:"lines_added"`
	Deleted    int    `json:"lines_deleted"`
	Binary     bool   `json:"binary"`
}
