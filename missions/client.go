package missions

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/sessions"
)

// clientOf is the version of the agent whose turn has ended; "" where nothing
// tells.
func clientOf(a sessions.Adapter, e sessions.Event) string {
	v, ok := a.(sessions.Versioned)
	if !ok || e.Kind != sessions.KindStop || e.Transcript == "" {
		return ""
	}
	if p, ok := a.(sessions.Packaged); ok && e.PID > 0 {
		if argv, err := lock.CommandLine(e.PID); err == nil {
			return p.Installed(argv)
		}
	}
	return v.Client(e.Transcript)
}

// untriedClient says what it means that Umbra was not tried with a version of the
// agent; "" for one between the oldest and the newest that it was tried with.
func untriedClient(a sessions.Adapter, client string) string {
	v, ok := a.(sessions.Versioned)
	if !ok {
		return ""
	}
	switch oldest, newest := v.Tried(); {
	case newerVersion(client, newest):
		return fmt.Sprintf("%s %s is newer than %s, the newest that this umbra was tried with. Snapshots, restores and forks go on: what it does not know in a conversation it keeps as it is. Try a fork before you rely on one, and look for a newer umbra",
			a.Name(), client, newest)
	case versionPart(strings.Split(client, "."), 0) >= 0 && newerVersion(oldest, client):
		return fmt.Sprintf("%s %s is too old: this umbra needs %s or newer. It keeps your files, but its turns may be wrong, and so may a conversation that it restores or forks. Update %s",
			a.Name(), client, oldest, a.Name())
	}
	return ""
}

// newerVersion compares the numbers of two versions; what is no number counts as
// older than any.
func newerVersion(v, than string) bool {
	a, b := strings.Split(v, "."), strings.Split(than, ".")
	for i := range max(len(a), len(b)) {
		x, y := versionPart(a, i), versionPart(b, i)
		if x != y {
			return x > y
		}
	}
	return false
}

func versionPart(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, err := strconv.Atoi(parts[i])
	if err != nil {
		return -1
	}
	return n
}
