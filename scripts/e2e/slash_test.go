package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestSlashCommands types Umbra's command and Claude Code's own on a terminal:
// /checkpoint asks no model and enters no conversation, /clear and /compact keep
// the mission, and /rewind works in a fork, on its own files.
func TestSlashCommands(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	p.umbra("hooks", "install", "claude")
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	k := p.talk("tui")
	s.turns(k)
	s.see("tui@2 · saved ")
	p.umbra("fork", "tui", "--name", "f", "--no-launch")
	fork := k.forked("f", 2)

	asked := len(p.server.Requests())
	s.enter("/checkpoint list")
	s.see("mission tui begins")
	s.enter("/checkpoint good")
	s.see("snapshot good ")
	if n := len(p.server.Requests()); n != asked {
		t.Errorf("/checkpoint made %d requests", n-asked)
	}
	s.enter("/checkpoint restore 1")
	s.shows("restore to tui@1; ", "alpha done", "bravo done")
	same(t, "the restored workspace", files(t, p.repo), k.ends[1].files)
	s.is("tui", "idle", 2)
	s.goesOn(k.at(1), "charlie", 3)

	before := p.mission("tui")
	s.enter("/clear")
	p.wait("the session to be another one", func() bool { return p.mission("tui").SessionID != before.SessionID })
	s.freshTurn(k, "delta", 4)
	cleared := p.mission("tui")
	s.enter("/compact")
	s.see("ompacted")
	s.enter("echo, please [[say echo done]]")
	s.see("echo done")
	if m := s.is("tui", "idle", 5); m.ID != before.ID || m.SessionID != cleared.SessionID {
		t.Errorf("after /compact the mission is %+v, was %+v", m, cleared)
	}
	s.enter("/exit")
	s.ends()

	s.rewindFork(fork, files(t, p.repo))
}

// freshTurn has a turn in a conversation that /clear has begun: nothing of what
// was said before is sent, but that it was cleared.
func (s *terminal) freshTurn(k *talk, word string, turn int) {
	s.p.Helper()
	prompt, lines := k.prompt(word)
	s.enter(prompt)
	s.see(word + " done")
	s.is(k.mission, "idle", turn)
	request, ok := s.p.server.Last(standin.Prompted(word + ", please"))
	if !ok {
		s.p.Fatalf("no request with the prompt %s", word)
	}
	got := strings.Join(s.p.plain(request), "\n")
	want := strings.TrimPrefix(strings.Join(lines, "\n"), "user: ") // which /clear's own words precede
	if !strings.HasSuffix(got, want) || strings.Contains(got, "alpha") {
		s.p.Fatalf("after /clear the model was sent\n%s\nwant at its end\n%s", got, want)
	}
}

// rewindFork goes back before the second turn in a fork, by Claude Code's own
// /rewind: its files are of the fork, and the source's stay.
func (s *terminal) rewindFork(fork *talk, source map[string]string) {
	p := s.p
	p.Helper()
	if err := p.client.Prepare(p.home, p.server.URL, p.repo, fork.workspace); err != nil {
		p.Fatal(err)
	}
	s.begin(fork.workspace, umbraPath(), "mission", "resume", "f")
	s.see("bravo done")
	s.see(ready)
	s.enter("/rewind")
	s.see("(current)")
	s.tmux("send-keys", "Up")
	s.see("❯ bravo, please")
	s.tmux("send-keys", "Enter")
	s.see("1. Restore code and conversation")
	s.tmux("send-keys", "Enter")
	gone := filepath.Join(fork.workspace, "bravo.txt")
	p.wait("/rewind to take the file back", func() bool {
		_, err := os.Stat(gone)
		return os.IsNotExist(err)
	})
	same(p.T, "the source of the fork", files(p.T, p.repo), source)
	s.see("❯\u00a0bravo, please") // typed again for its user: the input, no longer the list, has that space
	s.tmux("send-keys", "C-u")
	p.wait("the conversation to be the shorter one", func() bool { return !strings.Contains(s.screen(), "bravo done") })
	s.goesOn(fork.at(1), "foxtrot", 3)
	s.enter("/exit")
	s.ends()
}
