package missions

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions/claude"
)

func TestNewerClient(t *testing.T) {
	t.Parallel()
	newest := claude.Adapter{}.Newest()
	for version, newer := range map[string]bool{
		"": false, newest: false, "1.0.128": false, "2.1.9": false, "odd": false, "2.1": false,
		newest + ".1": true, "2.2.0": true, "10.0": true, "2.1.1000-beta": false,
	} {
		if got := newerClient(claude.Adapter{}, version); (got != "") != newer || newer && !strings.Contains(got, version) {
			t.Errorf("%s: %q", version, got)
		}
	}
	if got := newerClient(nil, "9.9"); got != "" {
		t.Errorf("an agent that is not known: %q", got)
	}
}

// TestClientIsNoted: the version is that which wrote the end of the session.
func TestClientIsNoted(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.adapters = Agents()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("one", "a.txt", "one\n")
	if m := c.only(); m.Client != "2.1.329" || len(m.Notes) != 0 {
		t.Errorf("%q %q", m.Client, m.Notes)
	}
	c.say(`{"type":"assistant","version":"99.1.2"}`, `{"type":"mode"}`)
	c.hook("Stop", nil)
	m := c.only()
	if m.Client != "99.1.2" || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "99.1.2 is newer than") {
		t.Errorf("%q %q", m.Client, m.Notes)
	}
}
