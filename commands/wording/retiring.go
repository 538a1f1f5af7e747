package wording

import (
	"fmt"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// ForkExpiry says what becomes by itself of forks that are over, in one sentence.
func ForkExpiry(p *print.Printer, e missions.ForkExpiry) string {
	var said []string
	if len(e.Waiting) > 0 {
		said = append(said, fmt.Sprintf(
			"%s, over for %s then, to the trash from %s on (umbra trash restore brings one back, umbra config set retention.forks never keeps all)",
			strings.Join(e.Waiting, ", "), e.Keep, e.GoesAt.Format(time.DateOnly)))
	}
	if e.Problem != "" {
		problem := "not all could be moved to the trash: " + e.Problem
		if e.Fix != "" {
			problem += " (" + e.Fix + ")"
		}
		said = append(said, problem)
	}
	if !e.WentAt.IsZero() {
		said = append(said, fmt.Sprintf("%s went to the trash %s (umbra trash ls)", print.Count(e.Went, "fork"), p.When(e.WentAt)))
	}
	if len(said) == 0 {
		said = append(said, fmt.Sprintf("one whose work is landed or promoted goes to the trash after %s, and none goes within a week", e.Keep))
	}
	return "forks: " + strings.Join(said, "; ")
}
