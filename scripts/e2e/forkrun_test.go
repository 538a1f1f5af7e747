package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestForkRun has two forks answer prompts at the same time with the real client, and
// leaves their source as it is.
func TestForkRun(t *testing.T) {
	t.Parallel()
	newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1").runsForks()
}

// TestForkRunCodex: codex exec resume does the same.
func TestForkRunCodex(t *testing.T) {
	t.Parallel()
	newCodex(t, "UMBRA_NO_DAEMON=1").runsForks()
}

// TestForkRunGemini: gemini --prompt does too.
func TestForkRunGemini(t *testing.T) {
	t.Parallel()
	newPersonWith(t, clients.Gemini(t, clients.GeminiCurrent), "UMBRA_NO_DAEMON=1").runsForks()
}

// runsForks has a turn in a mission, and two forks of it that answer a prompt each in the
// background, with all that was said before.
func (p *person) runsForks() {
	p.Helper()
	source := p.newTalk("source")
	source.say("alpha")
	repo, session := p.fingerprint(), content(p.T, p.mission("source").SessionPath)
	said := p.umbra("fork", "run", "source", "--prompt", "bravo, please [[say this is bravo]]", "--prompt", "charlie, please [[say this is charlie]]", "--json")
	for _, want := range []string{`"answer": "this is bravo"`, `"answer": "this is charlie"`} {
		if !strings.Contains(said, want) {
			p.Errorf("%s is not in %s", want, said)
		}
	}
	if n := strings.Count(said, `"turns": 1`); n != 2 || strings.Count(said, `"exit_code": 0`) != 2 {
		p.Errorf("%d forks have answered: %s", n, said)
	}
	for _, word := range []string{"bravo", "charlie"} {
		request, ok := p.server.Last(standin.Prompted(word + ", please"))
		if lines := p.plain(request); !ok || !slices.ContainsFunc(lines, func(line string) bool { return line == "assistant: alpha done" }) {
			p.Errorf("with %s the model was sent %s", word, strings.Join(lines, "\n"))
		}
	}
	p.untouched(repo)
	if got := content(p.T, p.mission("source").SessionPath); got != session {
		p.Error("the source's conversation has changed")
	}
}
