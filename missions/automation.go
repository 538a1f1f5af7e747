package missions

// Moment of a mission at which automations run.
const (
	OnReady = "ready"
	OnIdle  = "idle"
	OnError = "error"
	OnClose = "close"
)
