package missions

// ProjectsRequest lists projects.
type ProjectsRequest struct {
	Caller Caller `json:"caller"`
}

// Project is the missions that share a shadow repository.
type Project struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Path       string   `json:"path"`
	CommonDir  string   `json:"git_common_dir,omitempty"`
	ShadowRepo string   `json:"shadow_repo"`
	Missions   int      `json:"missions"`
	Live       int      `json:"live"`
	Problems   []string `json:"problems,omitempty"`
}

// MoveProjectRequest rebinds a project whose directory was moved.
type MoveProjectRequest struct {
	Caller Caller `json:"caller"`
	Old    string `json:"old"` // the directory, or the name of the project's own: what project ls calls it and its number
	New    string `json:"new"`
	Force  bool   `json:"force,omitempty"` // also where little of what was in Old is found
}
