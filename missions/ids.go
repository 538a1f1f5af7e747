package missions

import (
	"github.com/google/uuid"
)

// NewRequestID makes an id that nothing else has, such as one for a request that may
// have to be made again.
func NewRequestID() string { return uuid.NewString() }

// NamedID is the id that belongs to a name: the same each time.
func NamedID(name string) string { return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String() }

// IsID reports whether a text is an id.
func IsID(text string) bool { return uuid.Validate(text) == nil }
