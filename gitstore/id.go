package gitstore

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// IDSize is the number of bytes of an object id.
const IDSize = 20

// ID names a Git object by its SHA-1. The zero ID names nothing.
type ID [IDSize]byte

// InvalidIDError is returned by ParseID for text that is not an object id.
type InvalidIDError struct{ Text string }

func (e *InvalidIDError) Error() string {
	return fmt.Sprintf("%q is not an object id (40 lower-case hexadecimal digits)", e.Text)
}

// ParseID parses 40 lower-case hexadecimal digits.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*IDSize || !IsLowerHex(s) {
		return ID{}, &InvalidIDError{Text: s}
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, &InvalidIDError{Text: s}
	}
	return id, nil
}

// IsLowerHex tells of hexadecimal digits in lower case.
func IsLowerHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// IsCommitName tells the whole id of a commit, be it one of a SHA-256 repository of the
// user's. What is none may be an option, to git.
func IsCommitName(s string) bool { return (len(s) == 40 || len(s) == 64) && IsLowerHex(s) }

// String returns the 40 hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Short returns the first 10 hexadecimal digits, for messages.
func (id ID) Short() string { return hex.EncodeToString(id[:5]) }

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// Compare orders ids as Git's pack index does.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// MarshalText gives the 40 digits, or the empty text for the zero ID.
func (id ID) MarshalText() ([]byte, error) {
	if id.IsZero() {
		return []byte{}, nil
	}
	return []byte(id.String()), nil
}

// UnmarshalText is the inverse of MarshalText.
func (id *ID) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*id = ID{}
		return nil
	}
	parsed, err := ParseID(string(text))
	if err != nil {
		return err
	}
	*id = parsed
	return nil
}
