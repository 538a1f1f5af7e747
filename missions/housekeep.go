package missions

import (
	"time"
)

// Housekeeping is what was last done to keep a project's shadow repository fast
// and small.
type Housekeeping struct {
	Project string    `json:"project"`
	At      time.Time `json:"at"`
	// Packed counts objects that were packed together, Removed the loose objects
	// and packs that this made superfluous.
	Packed  int `json:"packed"`
	Removed int `json:"removed"`
	// FreedBytes is what the repository shrank by.
	FreedBytes int64 `json:"freed_bytes"`
	// Mended says what was found damaged of what was borrowed from the user's
	// repository, and stored again.
	Mended string `json:"mended,omitempty"`
	// Problem is why it was not done, or not to its end.
	Problem string `json:"problem,omitempty"`
}
