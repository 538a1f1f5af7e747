package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestQuestion leaves a question of Claude Code's open on a terminal: the mission waits,
// no restore ends the agent beneath it, a snapshot is taken; and it goes on as soon as
// it is answered, while the command that it was about still runs. At last Ctrl-C stops a
// turn, and ends the agent.
func TestQuestion(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--permission-mode", "default")
	s.see("? for shortcuts")
	s.question("Do you want to proceed?")
	s.controlC(3)
}

// TestQuestionOfOpenCode is TestQuestion with OpenCode, which Ctrl-C ends at once.
func TestQuestionOfOpenCode(t *testing.T) {
	t.Parallel()
	p := newPersonWith(t, clients.OpenCode(t, clients.OpenCodeCurrent))
	if err := os.WriteFile(filepath.Join(p.repo, "opencode.json"), []byte(`{"permission": {"bash": "ask"}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "opencode")
	s.see(p.speaks().ready)
	s.question("Permission required")
	s.prompts("tui", "charlie, please [[wait never]]", 3)
	s.is("tui", "running", 3)
	s.tmux("send-keys", "C-c")
	s.ends()
	if m := p.mission("tui"); m.State != "closed" {
		t.Errorf("after Ctrl-C the mission is %+v", m)
	}
}

// question leaves a question open that the screen shows by its words, answers it, and
// lets the command end that it was about.
func (s *terminal) question(words string) {
	s.p.Helper()
	p := s.p
	s.prompts("tui", "alpha, please [[say alpha done]]", 1)
	s.is("tui", "idle", 1)
	s.prompts("tui", `bravo, please [[bash cmd="echo b > b.txt; until [ -e go ]; do sleep 0.05; done"]] [[say bravo done]]`, 2)
	s.see(words)
	s.is("tui", "waiting", 2)
	p.refused(11, "--when-idle", "restore", "tui@1")
	p.umbra("snapshot", "tui", "--pin", "asked")
	if got := p.run(p.repo, "umbra", "cat", "asked", "b.txt"); got.code == 0 {
		p.Errorf("before the answer there is b.txt: %s", got.stdout)
	}
	s.tmux("send-keys", "Enter")
	s.is("tui", "running", 2)
	p.wait("the command to run", func() bool {
		_, err := os.Stat(filepath.Join(p.repo, "b.txt"))
		return err == nil
	})
	if err := os.WriteFile(filepath.Join(p.repo, "go"), nil, 0o644); err != nil {
		p.Fatal(err)
	}
	s.see("bravo done")
	s.is("tui", "idle", 2)
	if got := p.umbra("cat", "tui@2", "b.txt"); got != "b\n" {
		p.Errorf("at the end of the turn b.txt is %q", got)
	}
}

// controlC stops a turn with Ctrl-C, and then ends Claude Code with it.
func (s *terminal) controlC(turn int) {
	s.p.Helper()
	s.prompts("tui", "charlie, please [[wait never]]", turn)
	s.p.wait("the model to be asked", func() bool {
		_, ok := s.p.server.Last(standin.Prompted("charlie, please"))
		return ok
	})
	s.tmux("send-keys", "C-c")
	s.is("tui", "idle", turn)
	s.watch("two of them to end it", func() bool {
		if s.dead() {
			return true
		}
		s.tmux("send-keys", "C-c", "C-c") // the first takes away what stands in the input
		return false
	})
	s.ends()
	if m := s.p.mission("tui"); m.State != "closed" || m.ExitCode == nil || *m.ExitCode != 0 {
		s.p.Errorf("after Ctrl-C the mission is %+v", m)
	}
}
