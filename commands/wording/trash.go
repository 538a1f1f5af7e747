package wording

import (
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// TrashExpiry says what becomes of the trash by itself, in one sentence.
func TrashExpiry(p *print.Printer, e missions.TrashExpiry) string {
	said, sep := "trash: ", ""
	add := func(format string, args ...any) {
		said, sep = said+sep+fmt.Sprintf(format, args...), "; "
	}
	if e.Waiting > 0 {
		add("files of %s go for good from %s on, after %s there (umbra trash ls lists them, umbra trash restore brings a mission back, umbra config set retention.trash never keeps all)",
			print.Count(e.Waiting, "removed mission"), e.GoesAt.Format(time.DateOnly), e.Keep)
	}
	if e.Problem != "" {
		add("it could not be emptied: %s", e.Problem)
		if e.Fix != "" {
			said += " (" + e.Fix + ")"
		}
	}
	if !e.EmptiedAt.IsZero() {
		add("files of %s went %s, %s given back", print.Count(e.Emptied, "removed mission"), p.When(e.EmptiedAt), print.Size(e.Bytes))
	}
	if sep == "" {
		add("what is there for %s goes for good by itself, and nothing goes within a week", e.Keep)
	}
	return said
}
