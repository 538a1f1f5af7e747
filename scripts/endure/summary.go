package main

import (
	"fmt"
	"strings"
	"time"
)

// summary says in Markdown what was seen.
func (s *soak) summary(began time.Time, took time.Duration, where string) string {
	edits := 0
	for _, n := range s.edits {
		edits += n
	}
	var curve []string
	for _, bytes := range s.memory {
		curve = append(curve, fmt.Sprintf("%.0f", float64(bytes)/1e6))
	}
	killed := ""
	if s.kills > 0 {
		killed = fmt.Sprintf(" The daemon was killed %d times in the middle of the edits.", s.kills)
	}
	walls := s.hooks.Walls()
	tenth := max(1, len(walls)/10)
	lines := []string{
		fmt.Sprintf("%s, %s: %d snapshots of %d random edits of %d kinds in a tree of %d files, in %s.",
			began.UTC().Format("2006-01-02"), where, s.taken, edits, len(s.edits), s.files, took.Round(time.Second)),
		fmt.Sprintf("- Each of the %d snapshots had the tree that git writes for what was written; %d times the whole disk was read anew, every byte hashed by git without filters, and was the same. At the end all %d trees were still in the history, in order; `umbra doctor` and `git fsck --full` found nothing.%s", s.taken, s.rehashes, len(s.trees), killed),
		fmt.Sprintf("- The daemon's resident memory, in MB, at even distances: %s.", strings.Join(curve, ", ")),
		fmt.Sprintf("- Hooks: p50 %s, p95 %s; the last tenth %s, the first %s (p50).", short(walls.Median()), short(walls.Percentile(95)), short(walls[len(walls)-tenth:].Median()), short(walls[:tenth].Median())),
		fmt.Sprintf("- The shadow repository: %d loose objects, %d packs, %d left over, %.1f MB on disk; a fresh `git gc` makes %.1f MB of it (%.2f×). `umbra log` took %s.",
			s.size.Loose, s.size.Packs, s.size.Leftovers, float64(s.size.Bytes)/1e6, float64(s.least.Bytes)/1e6, float64(s.size.Bytes)/float64(s.least.Bytes), short(s.log)),
	}
	return strings.Join(lines, "\n") + "\n"
}

func short(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
