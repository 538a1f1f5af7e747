package wording

import (
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// TestWhatGoesByItself: what is about to go is named, with the day and what keeps it; what went is
// counted; where nothing is near it is said that nothing is.
func TestWhatGoesByItself(t *testing.T) {
	day := time.Date(2026, 1, 31, 16, 40, 0, 0, time.UTC)
	p := &print.Printer{Now: day.Add(time.Hour)}
	for said, want := range map[string][]string{
		ForkExpiry(p, missions.ForkExpiry{Keep: "14d"}): {"after 14d, and none goes within a week"},
		ForkExpiry(p, missions.ForkExpiry{Keep: "14d", Waiting: []string{"fix", "login"}, GoesAt: day}): {
			"fix, login", "from 2026-01-31 on", "umbra trash restore", "retention.forks never",
		},
		ForkExpiry(p, missions.ForkExpiry{Keep: "14d", WentAt: day, Went: 2, Problem: "torn", Fix: "umbra doctor"}): {
			"2 forks went", "torn (umbra doctor)",
		},
		Tightening(p, missions.Tightening{Policy: "the last 5 turns", From: day}): {
			"from 2026-01-31 16:40 on", "what stays at least: the last 5 turns", "retention.auto false",
		},
		Tightening(p, missions.Tightening{PrunedAt: day, Kept: "the last turn", Dropped: 7, Bytes: 5 << 20, Problem: "torn", Fix: "umbra doctor"}): {
			"7 old snapshots", "what stayed: the last turn", "torn (umbra doctor)",
		},
	} {
		for _, part := range want {
			if !strings.Contains(said, part) {
				t.Errorf("%q does not say %q", said, part)
			}
		}
	}
}
