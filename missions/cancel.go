package missions

// CancelRequest takes back what waits for the end of a mission's turn.
type CancelRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission,omitempty"`
}

// Canceled is what does not happen.
type Canceled struct {
	Mission string `json:"mission"`
	Name    string `json:"name"`
	Action  string `json:"canceled"` // as a mission's pending_action
}
