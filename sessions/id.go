package sessions

import (
	"path"
	"path/filepath"
	"strings"
)

// IsUUID reports whether s is a UUID of any version, in either case.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F') {
				return false
			}
		}
	}
	return true
}

// Program is the name of the program that a word of a command line names.
func Program(word string) string {
	return strings.TrimSuffix(path.Base(filepath.ToSlash(word)), ".exe")
}
