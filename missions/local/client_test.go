package local

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions/claude"
	"github.com/umbra-vcs/umbra/sessions/codex"
)

func TestUntriedClient(t *testing.T) {
	t.Parallel()
	oldest, newest := claude.Adapter{}.Tried()
	for version, says := range map[string]string{
		"": "", oldest: "", newest: "", "2.0.77": "", "2.1.9": "", "odd": "", "2.1": "", "2.1.1000-beta": "",
		newest + ".1": " is newer than " + newest, "2.2.0": " is newer than " + newest, "10.0": " is newer than " + newest,
		"1.0.128": " is too old: this umbra needs " + oldest + " or newer", "2.0.0": " is too old", "0.2": " is too old",
	} {
		if got := presence.UntriedClient(claude.Adapter{}, version); (got != "") != (says != "") || !strings.Contains(got, says) || !strings.Contains(got, version) && says != "" {
			t.Errorf("%s: %q", version, got)
		}
	}
	if got := presence.UntriedClient(nil, "9.9"); got != "" {
		t.Errorf("an agent that is not known: %q", got)
	}
	if got := presence.UntriedClient(codex.Adapter{}, "0.1.0"); got != "" {
		t.Errorf("an agent whose oldest version is not known: %q", got)
	}
}

// TestClientIsNoted: the version is that which wrote the end of the session.
func TestClientIsNoted(t *testing.T) {
	t.Parallel()
	c := newTalker(newBench(t))
	c.local.Adapters = projects.Agents()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("one", "a.txt", "one\n")
	if m := c.only(); m.ClientVersion != "2.1.329" || len(m.Notes) != 0 {
		t.Errorf("%q %q", m.ClientVersion, m.Notes)
	}
	c.say(`{"type":"assistant","version":"99.1.2"}`, `{"type":"mode"}`)
	c.hook("Stop", nil)
	m := c.only()
	if m.ClientVersion != "99.1.2" || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "99.1.2 is newer than") {
		t.Errorf("%q %q", m.ClientVersion, m.Notes)
	}
}
