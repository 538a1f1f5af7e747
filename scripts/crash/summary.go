package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// summary says in Markdown what was killed, and that all held.
func (h *harness) summary(at time.Time) string {
	var names []string
	points := 0
	for name := range h.points {
		names = append(names, name)
		points += h.At[name]
	}
	slices.Sort(names)
	lines := []string{
		fmt.Sprintf("%s, in %s: %d processes were killed with SIGKILL, %d of them at one of %d failpoints, %d at random instants, %d while they recovered from the kill before; %d more were to die, and had ended.",
			at.UTC().Format("2006-01-02"), h.lasted(at), h.killed(), points, len(names), h.Timed, h.Second, h.Survived),
		fmt.Sprintf("After each, the next command had what it needed, and the workspace was wholly old or wholly new; %d times everything was looked at: the %d snapshots that had been told of were in the history, in the trees that they were taken of, `git fsck --full` and `umbra doctor` found nothing, and nothing was left over.", h.Full, h.Acked) + h.mended(),
		"",
		"| failpoint | kills |",
		"|---|---|",
	}
	for _, name := range names {
		lines = append(lines, fmt.Sprintf("| `%s` | %d |", name, h.At[name]))
	}
	return strings.Join(lines, "\n") + "\n"
}
