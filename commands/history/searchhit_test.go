package history

import (
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestHitText: a hit says where it is.
func TestHitText(t *testing.T) {
	t.Parallel()
	for want, hit := range map[string]missions.SearchHit{
		"a.txt:3: one":                               {In: missions.SearchFiles, Path: "a.txt", Line: 3, Text: "one"},
		"Bash: make (exit 2) (in a subagent)":        {In: missions.SearchCommands, Text: "Bash: make", Exit: "2", Subagent: "a1f"},
		"look for it (in a subagent) (in the trash)": {In: missions.SearchPrompts, Text: "look for it", Subagent: "a1f", Removed: true},
		"and what it did":                            {In: missions.SearchAnswers, Text: "and what it did"},
	} {
		if got := hitText(hit); got != want {
			t.Errorf("%+v is %q, want %q", hit, got, want)
		}
	}
}
