package wording

import (
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// minutes is a time that is told to the minute.
const minutes = "2006-01-02 15:04"

// Pruning says what becomes of a project's old snapshots by itself, in one sentence.
func Pruning(p *print.Printer, r missions.Pruning) string {
	said := "pruning of " + r.Project + ": "
	var went string
	if !r.PrunedAt.IsZero() {
		went = fmt.Sprintf("%s dropped %s, %s given back", print.Count(r.Dropped, "old snapshot"), p.When(r.PrunedAt), print.Size(r.Bytes))
	}
	switch {
	case r.Problem != "":
		said += "it could not be ended: " + r.Problem
		if r.Fix != "" {
			said += " (" + r.Fix + ")"
		}
		if went != "" {
			said += "; " + went
		}
	case r.Waiting > 0:
		return said + fmt.Sprintf("%s, and what becomes old until then, will be dropped from %s on; what stays: %s, and what others need "+
			"(umbra prune --dry-run --all lists what goes, umbra config set retention.auto false keeps all)",
			print.Count(r.Waiting, "old snapshot"), r.NextAt.Format(time.DateOnly), r.Policy)
	case went == "":
		said += "nothing went yet"
	default:
		said += went
	}
	if r.NextAt.IsZero() {
		return said
	}
	return said + "; it is looked again at an idle moment from " + r.NextAt.Format(minutes) + " on"
}
