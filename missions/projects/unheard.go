package projects

// MissingHooks is why an agent was launched without hooks, and how many prompts the mission's
// conversation had then. The launch says it too, but on the screen that the agent takes.
type MissingHooks struct {
	Reason  string `json:"why"`
	Session string `json:"session,omitempty"`
	Prompts int    `json:"prompts,omitempty"`
}
