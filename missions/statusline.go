package missions

import (
	"time"
)

// StatusLine is what an agent's status line tells of its mission.
type StatusLine struct {
	Mission  string    `json:"mission"`           // its name
	Address  string    `json:"address,omitempty"` // of the last snapshot
	Turn     int       `json:"turn"`
	State    StateName `json:"state"`
	Snapshot time.Time `json:"snapshot"` // when the last one was taken
	Action   string    `json:"pending_action,omitempty"`
	Problems int       `json:"problems,omitempty"`
	Stopped  string    `json:"stopped,omitempty"` // why no snapshots are taken now; "" if they are
}
