package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestRewind goes back by Claude Code's own /rewind, after a restore and in a fork:
// files of the same size have again what they held, whatever their times say; and the
// moment before the next prompt has the conversation without what was taken back.
func TestRewind(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	turn := func(n int, word, script string) {
		t.Helper()
		s.enter(word + ", please " + script + " [[say " + word + " done]]")
		s.see(word + " done")
		s.is("tui", "idle", n)
	}
	turn(1, "alpha", `[[write path=z.txt content="one\n"]]`)
	turn(2, "bravo", `[[edit path=z.txt old=one new=two]]`)
	turn(3, "charlie", `[[edit path=z.txt old=two new=tri]]`)
	p.umbra("fork", "tui", "--name", "f", "--no-launch")
	p.umbra("restore", "tui@2")
	s.shows("restore to tui@2; ", "bravo done", "charlie done")
	s.see(ready)
	turn(4, "delta", `[[read path=z.txt]] [[edit path=z.txt old=two new=six]]`)
	s.rewind("delta, please")
	s.rewound(p.repo, "two\n")
	turn(5, "echo", `[[read path=z.txt]]`)
	p.umbra("fork", "tui@5.0", "--name", "g", "--no-launch")
	if said, err := os.ReadFile(p.mission("g").SessionPath); err != nil || strings.Contains(string(said), "delta, please") || !strings.Contains(string(said), "bravo done") {
		t.Errorf("before the prompt that followed /rewind the conversation is not what the screen showed (%v)", err)
	}
	s.enter("/exit")
	s.ends()

	fork := p.mission("f").Workspace
	if err := p.client.Prepare(p.home, p.server.URL, p.repo, fork); err != nil {
		t.Fatal(err)
	}
	s.begin(fork, umbraPath(), "mission", "resume", "f")
	s.see("charlie done")
	s.see(ready)
	s.rewind("charlie, please")
	s.rewound(fork, "two\n")
	s.enter("/exit")
	s.ends()
}

// rewind has Claude Code take back the last prompt, and the files.
func (s *terminal) rewind(prompt string) {
	s.p.Helper()
	s.enter("/rewind")
	s.see("(current)")
	s.tmux("send-keys", "Up")
	s.see("❯ " + prompt)
	s.tmux("send-keys", "Enter")
	s.see("1. Restore code and conversation")
	s.tmux("send-keys", "Enter")
}

// rewound waits until the prompt is in the input again, and looks at the file.
func (s *terminal) rewound(workspace, want string) {
	s.p.Helper()
	s.watch("the prompt to be there again", func() bool {
		screen := s.screen()
		return strings.Contains(screen, ", please") && !strings.Contains(screen, "Restore code")
	})
	read := func() string {
		got, err := os.ReadFile(filepath.Join(workspace, "z.txt"))
		if err != nil {
			s.p.Fatal(err)
		}
		return string(got)
	}
	s.p.wait("z.txt to be "+want, func() bool { return read() == want })
	s.tmux("send-keys", "C-u")
}
