package projects

import (
	"time"
)

// RefusedCall is a call of a hook that told nothing, since it could not be read. What it was
// about is lost: of a prompt, the snapshot before its turn.
type RefusedCall struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

func (r RefusedCall) String() string {
	return "a call of a hook could not be read at " + r.At.Local().Format(time.DateTime) + ", and what it told is lost: " + r.Why
}
