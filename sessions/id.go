package sessions

import (
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
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

// NewTimedID is a random UUID as one of version 7: it begins with the time.
func NewTimedID(random string, at time.Time) string { return TimeStamp(at) + "-7" + random[15:] }

// TimeStamp is how a UUID of version 7 begins: with the time.
func TimeStamp(at time.Time) string {
	ms := fmt.Sprintf("%012x", at.UnixMilli())
	return ms[:8] + "-" + ms[8:12]
}

// TimeOf is when a session began whose id is a UUID of version 7, in UTC.
func TimeOf(id string) (time.Time, bool) {
	if !IsUUID(id) || id[14] != '7' {
		return time.Time{}, false
	}
	b, err := hex.DecodeString(id[:8] + id[9:13])
	if err != nil {
		return time.Time{}, false
	}
	var ms int64
	for _, c := range b {
		ms = ms<<8 | int64(c)
	}
	return time.UnixMilli(ms).UTC(), true
}

// Program is the name of the program that a word of a command line names.
func Program(word string) string {
	return strings.TrimSuffix(path.Base(filepath.ToSlash(word)), ".exe")
}

// ProgramAt is the index in argv of the word that names a program; the program's
// own arguments follow. It is the first word, or, where that is a runtime of
// JavaScript, the script: of the program's name, or one whose path ends like one
// of scripts. -1 if argv starts something else.
func ProgramAt(argv []string, name string, scripts ...string) int {
	if len(argv) == 0 {
		return -1
	}
	switch Program(argv[0]) {
	case name:
		return 0
	case "node", "bun":
		i := slices.IndexFunc(argv[1:], func(word string) bool { return !strings.HasPrefix(word, "-") }) + 1
		if i == 0 {
			return -1
		}
		ends := func(script string) bool { return strings.HasSuffix(filepath.ToSlash(argv[i]), script) }
		if Program(argv[i]) == name || slices.ContainsFunc(scripts, ends) {
			return i
		}
	}
	return -1
}

// IsSideName reports whether a side file's name stays below the place it is
// joined to.
func IsSideName(name string) bool {
	return name != "" && path.Clean(name) == name && !path.IsAbs(name) && name != "." &&
		name != ".." && !strings.HasPrefix(name, "../") && !strings.ContainsRune(name, 0)
}

const mostBrief = 200 // bytes

// Brief is the beginning of the first line of a text, for people.
func Brief(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if len(s) > mostBrief {
		s = s[:mostBrief]
		for len(s) > 0 && !utf8.ValidString(s[max(0, len(s)-utf8.UTFMax):]) {
			s = s[:len(s)-1]
		}
		s += "…"
	}
	return s
}
