package history

import (
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/commands/calltest"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// TestBlameFits: however narrow the terminal is, code is to be seen; a wide one shows all of
// a prompt.
func TestBlameFits(t *testing.T) {
	t.Parallel()
	prompt := strings.Repeat("write the parser ", 5) + "to its end"
	lines := []missions.BlamedLine{
		{Line: 1, Text: "\tfor i := range values { total += values[i] }", LineOrigin: missions.LineOrigin{Address: "login@12", Mission: "login", Prompt: prompt, At: time.Date(2026, 1, 31, 16, 30, 0, 0, time.UTC)}},
		{Line: 2, Text: "}", LineOrigin: missions.LineOrigin{Address: "login@3", Mission: "login", Prompt: "begin"}},
	}
	for width, want := range map[int][]string{
		30:  {"login@12", "for i :="},
		60:  {"login@12", "write the pa", "for i := range valu"},
		80:  {"login@12", "write the", "2026-01-", "for i := range values { total"},
		200: {"login@12", prompt, "2026-01-", "values[i] }"},
	} {
		got := calltest.Printed(width, func(p *print.Printer) { writeBlame(p, lines) })
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%d columns: %q is not in\n%s", width, text, got)
			}
		}
		for line := range strings.Lines(got) {
			if n := print.Columns(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
	}
}
