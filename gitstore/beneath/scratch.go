package beneath

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/uuid"
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
	if !found || len(rest) < uuid.Length+2 || rest[uuid.Length] != '-' || !uuid.Is(rest[:uuid.Length]) {
		return "", 0, false
	}
	number := rest[uuid.Length+1:]
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || strconv.Itoa(n) != number {
		return "", 0, false
	}
	return rest[:uuid.Length], n, true
}

// IsInScratch reports whether a path is, or is in, what an operation has set aside.
func IsInScratch(path string) bool {
	return slices.ContainsFunc(strings.Split(path, string(filepath.Separator)), func(name string) bool {
		_, _, is := ParseScratch(name)
		return is
	})
}
