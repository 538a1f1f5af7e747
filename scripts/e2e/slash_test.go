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

// TestSlashCommands types Umbra's command and Claude Code's own on a terminal:
// /checkpoint asks no model and enters no conversation, /clear, /compact and
// /branch keep the mission, and /rewind works in a fork, on its own files. A turn
// that a subagent goes on with in the background is not over.
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
	s.branch(6)
	s.background(7)
	s.enter("/exit")
	s.ends()

	p.umbra("fork", "tui", "--name", "after", "--no-launch")
	p.sees(p.turn("after", "juliett, please", "juliett, please [[say juliett done]]"), []string{"echo done", "assistant: golf done", "hotel done"})
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

// branch has Claude Code fork the conversation, and a turn in the new one.
func (s *terminal) branch(turn int) {
	s.p.Helper()
	before := s.p.mission("tui")
	s.enter("/branch")
	s.watch("the session to be another one", func() bool { return s.p.mission("tui").SessionID != before.SessionID })
	branched := s.p.mission("tui")
	s.enter("golf, please [[say golf done]]")
	if m := s.is("tui", "idle", turn); m.ID != before.ID || m.SessionID != branched.SessionID {
		s.p.Errorf("after /branch the mission is %+v, was %+v", m, before)
	}
}

// background has a turn that is answered while a subagent still works on it: the
// mission is at work as long as the screen says so.
func (s *terminal) background(turn int) {
	s.p.Helper()
	s.enter(`hotel, please [[tool name=Agent input="{\"description\":\"sub\",\"prompt\":\"sub [[wait sub]] [[say sub said]]\",\"subagent_type\":\"general-purpose\"}"]] [[say hotel done]]`)
	s.see("Waiting for 1 background agent")
	s.watch("the answer to be told", func() bool {
		return slices.ContainsFunc(asked[[]entry](s.p, "log", "tui"), func(e entry) bool { return e.Turn == turn && strings.Contains(e.Message, "goes on in the background") })
	})
	if m := s.p.mission("tui"); m.State != "running" || m.Turn != turn {
		s.p.Errorf("while a subagent works the mission is %+v", m)
	}
	s.p.server.Release("sub")
	s.is("tui", "idle", turn) // it has reported, which the agent takes for a prompt, and nobody has typed
	s.see(`Agent "sub" finished`)
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
	s.rewind("bravo, please")
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
