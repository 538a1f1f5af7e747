package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// summary says in Markdown what was seen.
func (s *soak) summary(began time.Time, took time.Duration) string {
	edits := 0
	for _, n := range s.edits {
		edits += n
	}
	last := s.points[len(s.points)-1]
	walls := s.hooks.Walls()
	tenth := max(1, len(walls)/10)
	lines := []string{
		fmt.Sprintf("%s, %s, seed %d: %d snapshots of %d random edits of %d kinds in a tree of %d files, in %s.",
			began.UTC().Format("2006-01-02"), s.where, s.seed, s.taken, edits, len(s.edits), s.files, took.Round(time.Second)),
		"- " + s.wentWrong(),
		fmt.Sprintf("- Each snapshot had the tree that git writes for what was written; %d of them but for changes of which no event tells (writes through a mapping or from outside), which the next walk found. %d times the whole disk was read anew, every byte hashed by git without filters, and was the same. At the end all %d trees were still in the history, in order; `umbra doctor` and `git fsck --full` found nothing.",
			s.lagged, s.rehashes, len(s.trees)),
		"- The daemon's resident memory, in MB, at even distances: " + s.curve(func(p point) int64 { return p.resident / 1e6 }) + ".",
		"- Loose objects in the shadow repository, at the same moments: " + s.curve(func(p point) int64 { return int64(p.Loose) }) + "; its size on disk, in MB: " + s.curve(func(p point) int64 { return p.Bytes / 1e6 }) + ".",
		fmt.Sprintf("- Hooks: p50 %s, p95 %s; the last tenth %s, the first %s (p50).", short(walls.Median()), short(walls.Percentile(95)), short(walls[len(walls)-tenth:].Median()), short(walls[:tenth].Median())),
		fmt.Sprintf("- At the end, at rest: %d loose objects, %d packs, %d left over, %.1f MB on disk; a fresh `git gc` makes %.1f MB of it (%.2f×). `umbra log` took %s.",
			last.Loose, last.Packs, last.Leftovers, float64(last.Bytes)/1e6, float64(s.least.Bytes)/1e6, float64(last.Bytes)/float64(s.least.Bytes), short(s.log)),
	}
	return strings.Join(lines, "\n") + "\n"
}

// wentWrong says how often what went wrong in the middle of the edits.
func (s *soak) wentWrong() string {
	if len(s.tried) == 0 {
		return "Nothing went wrong meanwhile."
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(s.tried)) {
		list = append(list, fmt.Sprintf("%s (%d)", name, s.tried[name]))
	}
	return "In the middle of the edits, and right again later: the daemon " + strings.Join(list, ", ") + "."
}

// curve is one number at each point.
func (s *soak) curve(of func(point) int64) string {
	var list []string
	for _, p := range s.points {
		list = append(list, fmt.Sprint(of(p)))
	}
	return strings.Join(list, ", ")
}

func short(d time.Duration) string { return d.Round(100 * time.Microsecond).String() }
