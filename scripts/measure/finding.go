package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A finding is what was measured for one goal.
type finding struct {
	goal   goal
	lines  []line
	checks []check
	notes  []string
	failed error // why it could not be measured, or not wholly
}

// A line is one thing that was measured, beside its peers.
type line struct {
	what  string
	umbra lab.Costs // the daemon's processor time included, where there is one
	peers []peer
}

// A peer is another way to do the same.
type peer struct {
	name  string
	costs lab.Costs
}

// A check holds one figure against its target.
type check struct {
	what string
	got  string
	want string
	met  bool
}

func (f *finding) add(l line) { f.lines = append(f.lines, l) }

func (f *finding) note(format string, args ...any) {
	f.notes = append(f.notes, fmt.Sprintf(format, args...))
}

// within checks that a time is no longer than the target.
func (f *finding) within(what string, got, most time.Duration) {
	f.checks = append(f.checks, check{what, duration(got), "≤ " + duration(most), got <= most})
}

// most checks that a figure is no larger than the target.
func (f *finding) most(what string, got, most float64, unit string) {
	f.checks = append(f.checks, check{what, number(got) + unit, "≤ " + number(most) + unit, got <= most})
}

// least checks that a figure is no smaller than the target.
func (f *finding) least(what string, got, least float64, unit string) {
	f.checks = append(f.checks, check{what, number(got) + unit, "≥ " + number(least) + unit, got >= least})
}

// verdict says in words how the goal stands.
func (f *finding) verdict() string {
	switch {
	case len(f.checks) == 0:
		return "not measured"
	case f.failed != nil:
		return "measured in part"
	}
	missed := 0
	for _, c := range f.checks {
		if !c.met {
			missed++
		}
	}
	switch missed {
	case 0:
		return "met"
	case len(f.checks):
		return "missed"
	}
	return fmt.Sprintf("missed in %d of %d", missed, len(f.checks))
}

// duration writes a time with three digits at most, in the unit that fits.
func duration(d time.Duration) string {
	switch ms := float64(d) / float64(time.Millisecond); {
	case d < time.Millisecond:
		return number(ms*1000) + " µs"
	case d < 10*time.Second:
		if ms >= 1000 {
			return number(ms/1000) + " s"
		}
		return number(ms) + " ms"
	default:
		return number(ms/1000) + " s"
	}
}

// number writes a figure with about three digits.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.995:
		return strings.TrimRight(fmt.Sprintf("%.2f", v), "0")
	case v < 99.5 && v != float64(int64(v)):
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// megabytes are bytes in MB as the targets count them.
func megabytes(n int64) float64 { return float64(n) / 1e6 }

// countFiles says how many files something was done to.
func countFiles(n int) string {
	if n == 1 {
		return "1 file"
	}
	return fmt.Sprintf("%d files", n)
}
