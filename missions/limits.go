package missions

// LeftOutFiles says what the newest snapshot of a mission does not hold because of
// the workspace's own project file, which an agent may have written.
type LeftOutFiles struct {
	Mission string   `json:"mission"`
	File    string   `json:"file"`
	Files   int      `json:"files"`
	Paths   []string `json:"paths"` // the first of them
}
