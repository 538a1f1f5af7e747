package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// spent says what the conversation took in the turn of entries [from, to): what
// was counted up to the next prompt, or so far, less what was counted when the
// turn began. It is "" where that is not known, or a restore has cut it off.
func spent(entries []missions.Entry, from, to int) string {
	first := entries[to-1]
	if !prompted(first) || first.Conversation == nil && first.Turn != 1 {
		return ""
	}
	var before, after missions.Tally
	if first.Conversation != nil {
		before = *first.Conversation
	}
	if from > 0 && prompted(entries[from-1]) {
		from--
	}
	for _, e := range entries[from:to] {
		if t := e.Conversation; t != nil && t.Output > after.Output {
			after = *t
		}
	}
	in, out := after.Input-before.Input, after.Output-before.Output
	if in < 0 || out <= 0 {
		return ""
	}
	text := metric(in+out) + " tokens"
	if cost := after.Cost - before.Cost; cost >= 0.005 {
		text += fmt.Sprintf(" $%.2f", cost)
	}
	return text
}

func prompted(e missions.Entry) bool {
	return slices.Contains(e.Triggers, string(missions.TriggerPrompt))
}

// metric shows a number in three or four characters.
func metric(n int64) string {
	f, unit := float64(n), ""
	for _, u := range []string{"k", "M", "G"} {
		if f < 999.5 {
			break
		}
		f, unit = f/1000, u
	}
	if f >= 99.95 || unit == "" {
		return fmt.Sprintf("%.0f%s", f, unit)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") + unit
}
