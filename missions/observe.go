package missions

// Observation is what a watcher saw in a workspace.
type Observation string

// The observations.
const (
	// SawChange is a change of a file in the workspace.
	SawChange Observation = "change"
	// SawQuiet is a workspace and session file without change for the settle
	// period, or a writer that never pauses for the maximum wait.
	SawQuiet Observation = "quiet"
	// SawPause is SawQuiet of an agent that is seen to be at work.
	SawPause Observation = "pause"
)
