package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestForkHasConfiguration: a fork's real client works by the instructions,
// commands, agents and skills that its source had, under their own names, and
// by those of now when it is told to.
func TestForkHasConfiguration(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	all := []string{"instructions-", "language-", "own-agent-", "own-skill-"}
	p.configure("EARLIER")
	p.umbra("mission", "new", "--name", "source", "--", "claude", "-p", "--dangerously-skip-permissions", "alpha [[say one]]")
	p.sent("alpha", "EARLIER", all...)
	p.configuredOnTerminal(all)
	p.configure("LATER")
	p.umbra("fork", "source", "--name", "then", "--prompt", "bravo [[say two]]")
	p.sent("bravo", "EARLIER", all...)
	p.umbra("mission", "resume", "then", "--prompt", "/own-command", "--", "claude", "-p")
	body := p.sent("do as own-command-EARLIER says", "EARLIER", all...)
	if strings.Contains(body, "LATER") {
		t.Error("the configuration of now was sent too")
	}
	p.umbra("fork", "source", "--name", "now", "--config", "now", "--prompt", "charlie [[say three]]")
	p.sent("charlie", "LATER", all[:2]...) // agents that the conversation knows are not told again
}

// configure writes a configuration of which every part holds the word, or these
// parts of it.
func (p *person) configure(word string, parts ...string) {
	p.Helper()
	for name, text := range map[string]string{
		"CLAUDE.md":               "instructions-" + word,
		"agents/own-agent.md":     "---\nname: own-agent\ndescription: own-agent-" + word + "\n---\nbe an agent\n",
		"commands/own-command.md": "---\ndescription: own-command\n---\ndo as own-command-" + word + " says [[say done]]\n",
		"skills/own/SKILL.md":     "---\nname: own\ndescription: own-skill-" + word + "\n---\nbe skilled\n",
		"settings.json":           `{"env":{"OWN":"own"},"language":"language-` + word + `"}`,
	} {
		if len(parts) > 0 && !slices.Contains(parts, name) {
			continue
		}
		file := filepath.Join(p.home, ".claude", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			p.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			p.Fatal(err)
		}
	}
}

// configuredOnTerminal: where commands, agents and skills are what they were, Claude
// Code asks nothing, and has settings and instructions as they were too.
func (p *person) configuredOnTerminal(parts []string) {
	p.Helper()
	p.configure("LATER", "CLAUDE.md", "settings.json")
	p.umbra("fork", "source", "--name", "tui", "--no-launch", "--", "claude", "--dangerously-skip-permissions")
	if err := p.client.Prepare(p.home, p.server.URL, p.repo, p.mission("tui").Workspace); err != nil {
		p.Fatal(err)
	}
	s := p.terminal(umbraPath(), "mission", "resume", "tui")
	s.see(ready)
	s.enter("delta, please [[say four]]")
	s.is("tui", "idle", 2)
	if body := p.sent("delta, please", "EARLIER", parts...); strings.Contains(body, "LATER") {
		p.Error("the configuration of now was sent too")
	}
	s.enter("/own-command")
	s.is("tui", "idle", 3)
	p.sent("do as own-command-EARLIER says", "EARLIER")
	s.enter("/exit")
	s.ends()
}

// sent proves that the model was sent these parts of the configuration with a
// prompt, and returns the whole of what it was sent.
func (p *person) sent(prompt, word string, parts ...string) string {
	p.Helper()
	request, ok := p.server.Last(standin.Prompted(prompt))
	if !ok {
		p.Fatalf("no request with %q", prompt)
	}
	body := string(request.Body)
	for _, part := range parts {
		if !strings.Contains(body, part+word) {
			p.Errorf("with %q the model was not sent %s", prompt, part+word)
		}
	}
	if strings.Contains(body, ":own-agent") || strings.Contains(body, ":own-skill") {
		p.Errorf("with %q names have a prefix", prompt)
	}
	return body
}
