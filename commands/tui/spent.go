package tui

import (
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
)

// spent says what the conversation took in the turn of entries [from, to), "" where
// that is not known, or nothing was answered.
func spent(entries []missions.Entry, from, to int) string {
	took, _ := missions.TurnTally(entries, from, to)
	if took.Output <= 0 {
		return ""
	}
	text := metric(took.Input+took.Output) + " tokens"
	if took.Cost >= 0.005 {
		text += fmt.Sprintf(" $%.2f", took.Cost)
	}
	return text
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
