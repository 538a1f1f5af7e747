package missions

// UnreadFiles is how far the reading is of files that the first snapshot of a
// workspace took over by what the user's index said of them.
type UnreadFiles struct {
	Workspace string `json:"workspace"`
	Files     int    `json:"files"`
}
