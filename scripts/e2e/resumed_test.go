package e2e

import (
	"path/filepath"
	"testing"
	"time"

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
	for i, word := range words {
		if i > 0 {
			s.begin(p.repo, umbraPath(), "mission", "resume", "tui")
		}
		s.see("accept edits on")
		s.types(word + ", please [[sleep 1s]] [[say " + word + " done]]")
		entered := time.Time{}
		s.watch("a turn to begin", func() bool { // 1.0 takes Enter for a new line while it starts
			if p.mission("tui").Turn > i {
				return true
			}
			if time.Since(entered) > 3*time.Second {
				s.tmux("send-keys", "Enter")
				entered = time.Now()
			}
			return false
		})
		s.see(word + " done")
		s.is("tui", "idle", i+1)
		request, ok := p.server.Last(standin.Prompted(word + ", please"))
		if !ok {
			t.Fatalf("no request with %s", word)
		}
		for _, before := range words[:i] {
			p.sees(request, []string{"user: " + before + ", please", "assistant: " + before + " done"})
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
		p.sees(request, []string{"user: " + word + ", please", "assistant: " + word + " done"})
		for _, after := range words[i+1:] {
			p.sees(request, nil, after+", please")
		}
	}
}
