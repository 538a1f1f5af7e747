package presence

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
)

// UntriedClient says what it means that Umbra was not tried with this version of the agent;
// "" for a version between the oldest and the newest that Umbra was tried with.
func UntriedClient(a sessions.Adapter, client string) string {
	v, ok := a.(sessions.Versioned)
	if !ok {
		return ""
	}
	switch oldest, newest := v.Tried(); {
	case isNewerVersion(client, newest):
		return fmt.Sprintf("%s %s is newer than %s, the newest that this umbra was tried with. "+
			"Snapshots, restores and forks go on: what it does not know in a conversation it keeps as it is. "+
			"Try a fork before you rely on one, and look for a newer umbra",
			a.Name(), client, newest)
	case versionNumber(strings.Split(client, "."), 0) >= 0 && isNewerVersion(oldest, client):
		return fmt.Sprintf("%s %s is too old: this umbra needs %s or newer. "+
			"It keeps your files, but its turns may be wrong, and so may a conversation that it restores or forks. Update %s",
			a.Name(), client, oldest, a.Name())
	}
	return ""
}

// isNewerVersion compares the numbers of two versions. A part that is no number is older
// than any number.
func isNewerVersion(v, than string) bool {
	a, b := strings.Split(v, "."), strings.Split(than, ".")
	for i := range max(len(a), len(b)) {
		x, y := versionNumber(a, i), versionNumber(b, i)
		if x != y {
			return x > y
		}
	}
	return false
}

func versionNumber(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return -1
	}
	return n
}
