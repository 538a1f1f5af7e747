package wording

import (
	"fmt"
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
