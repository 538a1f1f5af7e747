// Package uuid tells the ids of projects, missions and operations from other text: they
// are UUIDs in lower case, and stand in the names of refs and files.
package uuid

// Length is how many bytes such an id has.
const Length = len("00000000-0000-0000-0000-000000000000")

// Is reports whether s is a UUID in lower case, of any version.
func Is(s string) bool {
	if len(s) != Length {
		return false
	}
	for i := range len(s) {
		c, dash := s[i], i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
