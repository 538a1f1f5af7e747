package missions

import "time"

// SnapshotRequest takes a snapshot by hand.
type SnapshotRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"`
	Message string `json:"message,omitempty"`
	Pin     string `json:"pin,omitempty"`
	// OnlyIfChanged lets the newest snapshot answer if nothing is new.
	OnlyIfChanged bool `json:"only_if_changed,omitempty"`
	// ID tells the request when it is made again, because its answer was cut
	// off; it is kept with the snapshot. "" is one that is not made again.
	ID       string `json:"id,omitempty"`
	Repeated bool   `json:"repeated,omitempty"`
}

// MarkRepeated says that the request is made again.
func (r *SnapshotRequest) MarkRepeated() { r.Repeated = true }

// PinRequest names a moment and a pin.
type PinRequest struct {
	Caller Caller `json:"caller"`
	Moment string `json:"moment,omitempty"`
	Name   string `json:"name"`
}

// PinsRequest lists a project's pins.
type PinsRequest struct {
	Caller Caller `json:"caller"`
}

// Pin is a snapshot with a name.
type Pin struct {
	Name     string    `json:"name"`
	Snapshot string    `json:"snapshot"`
	Mission  string    `json:"mission"`
	Address  string    `json:"address"`
	At       time.Time `json:"at"`
	Message  string    `json:"message"`
}
