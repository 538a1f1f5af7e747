package missions

// UnremoveRequest takes a mission out of the trash again.
type UnremoveRequest struct {
	Caller  Caller `json:"caller"`
	Mission string `json:"mission"` // its name, its id or the beginning of that
}
