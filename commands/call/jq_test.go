package call

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestNoJQ: a filter without its program is refused before anything is done.
func TestNoJQ(t *testing.T) {
	t.Parallel()
	env := Env{Getenv: func(string) string { return "" }}
	g := Globals{Color: "auto", jq: "."}
	err := g.Settle(env)
	if e := missions.AsError(err); err == nil || e.Kind != missions.KindNotFound || !strings.Contains(e.Hint, "--json") {
		t.Errorf("without jq it says %v", err)
	}
	g.jq = ""
	if err := g.Settle(env); err != nil {
		t.Errorf("without a filter it needs no program: %v", err)
	}
}
