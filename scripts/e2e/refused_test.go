package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestGeminiRefused works with Gemini CLI on a terminal, whose API refuses a prompt,
// and what it is sent after a command: such a turn has ended in an error, as the screen
// shows, until the next one. One that its user stops has not.
func TestGeminiRefused(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Gemini(t, clients.GeminiCurrent))
	p.umbra("hooks", "install", "gemini")
	d := p.speaks()
	s := p.terminal(slices.Concat([]string{umbraPath(), "mission", "new", "--name", "tui", "--"}, d.terminal)...)
	s.see(d.ready)
	s.prompts("tui", "alpha, please [[say alpha done]]", 1)
	s.is("tui", "idle", 1)
	s.prompts("tui", "bravo, please [[fail 400 no such model]]", 2)
	if m := s.is("tui", "error", 2); m.LastError != "API Error: no such model" {
		t.Errorf("the mission's error is %q", m.LastError)
	}
	s.see("[API Error: ")
	s.prompts("tui", "charlie, please [[wait never]]", 3)
	p.wait("the model to be asked", func() bool { _, ok := p.server.Last(standin.Prompted("charlie, please")); return ok })
	s.tmux("send-keys", "Escape")
	s.is("tui", "idle", 3)
	s.see("Request cancelled.")
	s.prompts("tui", `delta, please [[bash cmd="echo d > d.txt"]] [[fail 400 no such model]]`, 4)
	s.is("tui", "idle", 5) // it asks once more by itself
	s.prompts("tui", "echo, please [[say echo done]]", 6)
	s.is("tui", "idle", 6)

	k := p.talk("tui")
	k.ended("@6 idle", "@5 idle", "@4 error", "@3 idle", "@2 error", "@1 idle")
	p.umbra("fork", "tui@2", "--name", "refused", "--no-launch")
	p.umbra("fork", "tui@4", "--name", "used", "--no-launch")
	for name, said := range map[string][2]string{"refused": {"alpha done", "bravo, please"}, "used": {"delta, please", "echo, please"}} {
		p.sees(p.goesOn(name), []string{"alpha, please", said[0]}, said[1])
	}
	s.stops("tui")
}

// TestGeminiRefusedHeadless: without a terminal Gemini CLI says of its API's refusal by
// its exit code alone, and ends.
func TestGeminiRefusedHeadless(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.Gemini(t, clients.GeminiCurrent), "UMBRA_NO_DAEMON=1")
	p.umbra("hooks", "install", "gemini")
	k := p.newTalk("m")
	k.say("alpha")
	refused := slices.Concat([]string{"umbra", "mission", "resume", "m", "--"}, p.speaks().headless, []string{"bravo, please [[fail 400 no such model]]"})
	if out := p.run(p.repo, refused...); out.code == 0 || !strings.Contains(out.stderr, "no such model") {
		t.Fatalf("%s", out)
	}
	if m := p.mission("m"); m.State != "closed" || m.ExitCode == nil || *m.ExitCode == 0 || m.Turn != 2 {
		t.Errorf("after a refused turn the mission is %+v", m)
	}
	p.umbra("fork", "m", "--name", "f", "--no-launch")
	k.forked("f", 1).say("charlie")
	k.say("delta")
}
