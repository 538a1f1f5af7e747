package status

import (
	"bytes"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// TestStatusLineNamesParent: who is in a side fork sees that, and whose fork it is.
func TestStatusLineNamesParent(t *testing.T) {
	t.Parallel()
	for _, parent := range []string{"", "login"} {
		var out bytes.Buffer
		p := print.To(&out)
		writeStatusLine(p, &missions.StatusLine{Mission: "try", Turn: 2, Snapshot: p.Now, ForkOf: parent})
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), " · side fork of login\n") != (parent != "") || !strings.HasPrefix(out.String(), "try@2 · saved ") {
			t.Errorf("of a fork of %q: %q", parent, out.String())
		}
	}
}
