package beneath

import (
	"strconv"
	"strings"
)

const scratchPrefix = ".umbra-"

// ScratchName is the name of the n-th file that an operation stages or sets
// aside beside a workspace's file, where the journal is on another file
// system: ".umbra-<operation>-<n>". The operation is a UUID in its canonical
// form.
func ScratchName(operation string, n int) string {
	return scratchPrefix + operation + "-" + strconv.Itoa(n)
}

// ParseScratch splits a scratch name. Captures leave such names out; a name
// that only begins like one (".umbra-notes") is the user's, and ok is false.
func ParseScratch(name string) (operation string, n int, ok bool) {
	rest, found := strings.CutPrefix(name, scratchPrefix)
	if !found || len(rest) < uuidLength+2 || rest[uuidLength] != '-' || !isUUID(rest[:uuidLength]) {
		return "", 0, false
	}
	number := rest[uuidLength+1:]
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number {
		return "", 0, false
	}
	return rest[:uuidLength], n, true
}

const uuidLength = len("00000000-0000-0000-0000-000000000000")

func isUUID(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
			continue
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(s) == uuidLength
}
