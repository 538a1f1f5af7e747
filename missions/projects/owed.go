package projects

import (
	"github.com/umbra-vcs/umbra/missions"
)

// OwedSnapshot is a snapshot that was asked for and not taken, for want of room. It is part of
// what is known of a mission beyond its record: whichever process serves pays.
type OwedSnapshot struct {
	Take missions.TakeSnapshot `json:"take"`
	Tip  string                `json:"tip"` // the mission's newest snapshot then
}
