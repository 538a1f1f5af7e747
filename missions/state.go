package missions

// StateName is the name of a lifecycle as shown.
type StateName string

// The states as shown. StateWaiting is running with pending permissions.
const (
	StateInitializing StateName = "initializing"
	StateRunning      StateName = "running"
	StateWaiting      StateName = "waiting"
	StateIdle         StateName = "idle"
	StateError        StateName = "error"
	StateClosed       StateName = "closed"
)

// NotLaunched is how people are told that nobody has launched a mission's agent.
const NotLaunched = "not launched"

// StateNames are all states, in the order in which a mission goes through them.
var StateNames = [...]StateName{StateInitializing, StateRunning, StateWaiting, StateIdle, StateError, StateClosed}

// StateOf is the name a lifecycle is shown under.
func StateOf(l Lifecycle) StateName {
	switch l := l.(type) {
	case Initializing:
		return StateInitializing
	case Running:
		if len(l.Pending) > 0 {
			return StateWaiting
		}
		return StateRunning
	case Idle:
		return StateIdle
	case Failed:
		return StateError
	default:
		return StateClosed
	}
}
