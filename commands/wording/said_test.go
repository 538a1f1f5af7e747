package wording

import (
	"testing"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// TestChangesStyle: what only took lines away is not as green as what wrote some.
func TestChangesStyle(t *testing.T) {
	t.Parallel()
	for lines, want := range map[missions.LineCounts]print.Style{{Added: 1, Deleted: 2}: print.Green, {Deleted: 2}: print.Red, {}: print.Green} {
		if got := ChangesStyle(missions.Entry{Lines: &lines}); got != want {
			t.Errorf("%+v: %q", lines, got)
		}
	}
}
