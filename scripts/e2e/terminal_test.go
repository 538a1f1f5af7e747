package e2e

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// A terminal is a tmux of its own with one window.
type terminal struct {
	p      *person
	socket string
}

func (p *person) terminal(args ...string) *terminal {
	p.Helper()
	s := &terminal{p: p, socket: filepath.Join(p.home, "tmux")}
	s.tmux(append([]string{"-f", "/dev/null", "new-session", "-d", "-x", "180", "-y", "50", "-c", p.repo, "--"}, args...)...)
	p.Cleanup(func() { p.run(p.repo, "tmux", "-S", s.socket, "kill-server") })
	return s
}

func (s *terminal) tmux(args ...string) string {
	s.p.Helper()
	out := s.p.run(s.p.repo, append([]string{"tmux", "-S", s.socket}, args...)...)
	if out.code != 0 {
		s.p.Fatalf("%s", out)
	}
	return out.stdout
}

// screen is what is to be seen; empty once the terminal is gone.
func (s *terminal) screen() string {
	return s.p.run(s.p.repo, "tmux", "-S", s.socket, "capture-pane", "-p").stdout
}

func (s *terminal) open() bool {
	return s.p.run(s.p.repo, "tmux", "-S", s.socket, "has-session").code == 0
}

// enter types a line once it can be seen that it was taken.
func (s *terminal) enter(line string) {
	s.p.Helper()
	s.tmux("send-keys", "-l", line)
	start, _, _ := strings.Cut(line, "[[")
	s.see(strings.TrimSpace(start))
	s.tmux("send-keys", "Enter")
}

func (s *terminal) see(text string) {
	s.p.Helper()
	defer func() {
		if s.p.Failed() {
			s.p.Logf("the screen is\n%s", s.screen())
		}
	}()
	s.p.wait("the terminal to show "+text, func() bool { return strings.Contains(s.screen(), text) })
}

// is waits until the mission is in that state and turn.
func (s *terminal) is(name, state string, turn int) mission {
	s.p.Helper()
	var m mission
	defer func() {
		if s.p.Failed() {
			s.p.Logf("the mission is %+v, the screen\n%s", m, s.screen())
		}
	}()
	s.p.wait(name+" to be "+state, func() bool {
		m = s.p.mission(name)
		return m.State == state && m.Turn == turn
	})
	return m
}

// TestTerminal works with Claude Code on a terminal, under the keeper: turns,
// one that is interrupted, a restore beneath the live agent, the end.
func TestTerminal(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see("bypass permissions on")
	k := &talk{p: p, mission: "tui", workspace: p.repo, ends: []moment{{files: files(t, p.repo)}}}
	if m := p.mission("tui"); m.Managed != "keeper" {
		t.Errorf("a mission in a terminal is %+v", m)
	}
	for turn, word := range []string{"alpha", "bravo"} {
		prompt, lines := k.prompt(word)
		s.enter(prompt)
		s.see(word + " done")
		s.is("tui", "idle", turn+1)
		k.heard(word, lines)
	}
	for moment, want := range map[string]string{"tui@1.0": "0\n", "tui@1": "0\nalpha\n", "tui@2": "0\nalpha\nbravo\n"} {
		if got := p.umbra("cat", moment, "state.txt"); got != want {
			t.Errorf("state.txt at %s is %q, want %q", moment, got, want)
		}
	}

	s.enter(`stuck, please [[bash cmd="echo in the middle"]] [[wait never]]`)
	p.wait("the model to be asked", func() bool {
		r, ok := p.server.Last(standin.Prompted("stuck, please"))
		return ok && slices.Contains(standin.Lines(standin.History(r)), "result: in the middle")
	})
	s.is("tui", "running", 3)
	s.tmux("send-keys", "Escape")
	s.see("nterrupted")
	s.is("tui", "idle", 3)

	var restored struct {
		SessionID string `json:"session_id"`
		Handover  struct{ How, Type string }
	}
	if err := json.Unmarshal([]byte(p.umbra("restore", "tui@1", "--json")), &restored); err != nil {
		t.Fatal(err)
	}
	same(t, "the restored workspace", files(t, p.repo), k.ends[1].files)
	if want := "/resume " + restored.SessionID; restored.Handover.How != "type" || restored.Handover.Type != want {
		t.Fatalf("the restore says %+v, want %q", restored, want)
	}
	s.tmux("send-keys", "C-u")
	s.enter(restored.Handover.Type)
	back := k.at(1)
	s.p.wait("the conversation to be the shorter one", func() bool { return !strings.Contains(s.screen(), "bravo done") })
	prompt, lines := back.prompt("charlie")
	s.enter(prompt)
	s.see("charlie done")
	m := s.is("tui", "idle", 4)
	if m.SessionID != restored.SessionID {
		t.Errorf("after /resume the mission's session is %s, want %s", m.SessionID, restored.SessionID)
	}
	request, ok := p.server.Last(standin.Prompted("charlie, please"))
	if !ok {
		t.Fatal("no request with the prompt charlie")
	}
	if got, want := plain(standin.Lines(standin.History(request))), append(back.lines, lines...); !slices.Equal(got, want) {
		t.Errorf("after the restore the model was sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}

	s.enter("/exit")
	p.wait("the terminal to close", func() bool { return !s.open() })
	m = p.mission("tui")
	if m.State != "closed" || m.ExitCode == nil || *m.ExitCode != 0 {
		t.Errorf("after /exit the mission is %+v", m)
	}
}
