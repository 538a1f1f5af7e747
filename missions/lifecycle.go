package missions

import (
	"encoding/json"
	"fmt"
)

// Lifecycle is what a mission is doing: one of the closed set Initializing,
// Running, Idle, Failed and Closed, each with the data that only it has. Turn
// is the number of the last turn that began; it never goes back.
type Lifecycle interface {
	lifecycle()
	// LastTurn is the number of the last turn that began, 0 before the first.
	LastTurn() int
}

// Initializing is a mission whose agent was not started yet.
type Initializing struct {
	Turn int `json:"turn"`
}

// Running is a mission whose agent is in a turn.
type Running struct {
	Turn     int          `json:"turn"`
	Prompt   string       `json:"prompt,omitempty"`
	PromptID string       `json:"prompt_id,omitempty"`
	Tool     *ToolUse     `json:"tool,omitempty"` // the tool that runs now
	Pending  []Permission `json:"pending,omitempty"`
	// Continued says that the turn had ended, and goes on; Noted that a snapshot says so,
	// after which what changes was changed by the agent.
	Continued bool `json:"again,omitempty"`
	Noted     bool `json:"noted,omitempty"`
	// Background says that the turn was answered, and a subagent goes on with it.
	Background bool `json:"background,omitempty"`
	// Launched says that the agent was started, and is not known to be in a turn: one
	// without hooks counts as running until it is quiet, or says what it does.
	Launched bool `json:"launched,omitempty"`
}

// Idle is a mission whose agent waits for its user.
type Idle struct {
	Turn int `json:"turn"`
}

// Failed is a mission whose last turn ended in an error of the agent.
type Failed struct {
	Turn    int    `json:"turn"`
	Message string `json:"message"`
}

// Closed is a mission without an agent.
type Closed struct {
	Turn     int         `json:"turn"`
	Reason   CloseReason `json:"how"`
	ExitCode int         `json:"exit_code"`
}

func (Initializing) lifecycle() {}

func (Running) lifecycle() {}

func (Idle) lifecycle() {}

func (Failed) lifecycle() {}

func (Closed) lifecycle() {}

// LastTurn implements Lifecycle.
func (l Initializing) LastTurn() int { return l.Turn }

// LastTurn implements Lifecycle.
func (l Running) LastTurn() int { return l.Turn }

// LastTurn implements Lifecycle.
func (l Idle) LastTurn() int { return l.Turn }

// LastTurn implements Lifecycle.
func (l Failed) LastTurn() int { return l.Turn }

// LastTurn implements Lifecycle.
func (l Closed) LastTurn() int { return l.Turn }

// InTurn reports whether an agent is in the middle of a turn.
func InTurn(l Lifecycle) bool {
	_, running := l.(Running)
	return running
}

// HasAgent reports whether a lifecycle has an agent that may act.
func HasAgent(l Lifecycle) bool {
	switch l.(type) {
	case Running, Idle, Failed:
		return true
	}
	return false
}

// lifecycleJSON is a Lifecycle in JSON: exactly one member is set.
type lifecycleJSON struct {
	Initializing *Initializing `json:"initializing,omitempty"`
	Running      *Running      `json:"running,omitempty"`
	Idle         *Idle         `json:"idle,omitempty"`
	Failed       *Failed       `json:"error,omitempty"`
	Closed       *Closed       `json:"closed,omitempty"`
}

// MarshalLifecycle writes a lifecycle as the one member of an object that its variant
// names.
func MarshalLifecycle(l Lifecycle) (json.RawMessage, error) {
	var b lifecycleJSON
	switch l := l.(type) {
	case Initializing:
		b.Initializing = &l
	case Running:
		b.Running = &l
	case Idle:
		b.Idle = &l
	case Failed:
		b.Failed = &l
	case Closed:
		b.Closed = &l
	default:
		return nil, fmt.Errorf("no lifecycle: %T", l)
	}
	return json.Marshal(b)
}

// UnmarshalLifecycle reads what MarshalLifecycle wrote.
func UnmarshalLifecycle(p []byte) (Lifecycle, error) {
	var b lifecycleJSON
	if err := json.Unmarshal(p, &b); err != nil {
		return nil, fmt.Errorf("lifecycle: %w", err)
	}
	var found []Lifecycle
	if b.Initializing != nil {
		found = append(found, *b.Initializing)
	}
	if b.Running != nil {
		found = append(found, *b.Running)
	}
	if b.Idle != nil {
		found = append(found, *b.Idle)
	}
	if b.Failed != nil {
		found = append(found, *b.Failed)
	}
	if b.Closed != nil {
		found = append(found, *b.Closed)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("lifecycle: %d variants in one", len(found))
	}
	return found[0], nil
}
