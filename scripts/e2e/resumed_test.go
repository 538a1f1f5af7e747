package e2e

import (
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestResumedOnTerminal resumes a mission of Claude Code 1.0 on a terminal, twice. The
// titles that 1.0 asks for at its start have it go on in another file than the
// session's, and forget that one: what was said is in the mission's snapshots, in what
// the model is sent after the next resumption, and in a fork.
func TestResumedOnTerminal(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeOldest)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--permission-mode", "acceptEdits")
	words := []string{"alpha", "bravo", "charlie"}
	said := func(word string) []string {
		return []string{"user: " + word + ", please", "assistant: " + word + " done"}
	}
	for i, word := range words {
		if i > 0 {
			s.begin(p.repo, umbraPath(), "mission", "resume", "tui")
		}
		s.see("accept edits on")
		s.prompts("tui", word+", please [[sleep 1s]] [[say "+word+" done]]", i+1)
		s.see(word + " done")
		s.is("tui", "idle", i+1)
		request, ok := p.server.Last(standin.Prompted(word + ", please"))
		if !ok {
			t.Fatalf("no request with %s", word)
		}
		for _, before := range words[:i] {
			p.sees(request, said(before))
		}
		s.enter("/exit")
		s.ends()
	}
	if files, err := filepath.Glob(filepath.Join(p.home, ".claude", "projects", "*", "*-*.jsonl")); len(files) != 1 {
		t.Errorf("the session is in %q, %v", files, err)
	}
	for i, word := range words {
		p.umbra("fork", "tui@"+itoa(i+1), "--name", word, "--no-launch")
		request := p.goesOn(word)
		p.sees(request, said(word))
		for _, after := range words[i+1:] {
			p.sees(request, nil, after+", please")
		}
	}
}
