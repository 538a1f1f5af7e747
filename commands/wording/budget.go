package wording

import (
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Budget says how much of its room Umbra's home takes, and what then.
func Budget(p *print.Printer, b missions.Budget) string {
	then := "beyond that nothing is written"
	if b.IsReached() {
		then = "nothing is written until it takes less"
	}
	said := fmt.Sprintf("room: Umbra takes %s of the %s that storage.max_bytes allows; %s", print.Size(b.Bytes), print.Size(b.MaxBytes), then)
	if p.Now.Sub(b.MeasuredAt) > time.Hour {
		said += "; measured " + p.When(b.MeasuredAt)
	}
	return said
}

// Tightening says what becomes of old snapshots by itself once no more may be written, in one
// sentence.
func Tightening(p *print.Printer, t missions.Tightening) string {
	var said []string
	if !t.PrunedAt.IsZero() {
		said = append(said, fmt.Sprintf("%s dropped %s since storage.max_bytes was reached, %s given back; what stayed: %s, and what others need",
			print.Count(t.Dropped, "old snapshot"), p.When(t.PrunedAt), print.Size(t.Bytes), t.Kept))
	}
	if t.Problem != "" {
		problem := "not all could be given back: " + t.Problem
		if t.Fix != "" {
			problem += " (" + t.Fix + ")"
		}
		said = append(said, problem)
	}
	if !t.From.IsZero() {
		said = append(said, fmt.Sprintf("from %s on old snapshots are dropped by themselves as far as it takes once storage.max_bytes is reached; what stays at least: %s, "+
			"and what others need (umbra config set retention.auto false keeps all)", t.From.Format(minutes), t.Policy))
	}
	return "room: " + strings.Join(said, "; ")
}
