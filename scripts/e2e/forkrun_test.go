package e2e

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestForkRun has two forks answer prompts at the same time with the real client, and
// leaves their source as it is.
func TestForkRun(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	source := p.newTalk("source")
	source.say("alpha")
	repo, session := p.fingerprint(), content(t, p.mission("source").SessionPath)
	said := p.umbra("fork", "run", "source", "--prompt", "bravo, please [[say this is bravo]]", "--prompt", "charlie, please [[say this is charlie]]", "--json")
	for _, want := range []string{`"answer": "this is bravo"`, `"answer": "this is charlie"`} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not in %s", want, said)
		}
	}
	if n := strings.Count(said, `"turns": 1`); n != 2 || strings.Count(said, `"exit_code": 0`) != 2 {
		t.Errorf("%d forks have answered: %s", n, said)
	}
	p.untouched(repo)
	if got := content(t, p.mission("source").SessionPath); got != session {
		t.Error("the source's conversation has changed")
	}
}
