package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestHandover works with the agents that are not Claude Code on a terminal,
// under the keeper: a restore beneath the idle agent, undone and done again, and one for
// the end of a turn, which its user ends with Esc. Each time the agent is there again, on the
// conversation that was restored. (TestTerminal is Claude Code's.)
func TestHandover(t *testing.T) {
	t.Parallel()
	for agent, client := range map[string]func(*testing.T) clients.Client{
		"codex":    func(t *testing.T) clients.Client { return clients.Codex(t, clients.CodexCurrent) },
		"gemini":   func(t *testing.T) clients.Client { return clients.Gemini(t, clients.GeminiCurrent) },
		"opencode": func(t *testing.T) clients.Client { return clients.OpenCode(t, clients.OpenCodeCurrent) },
		"pi":       func(t *testing.T) clients.Client { return clients.Pi(t, clients.PiCurrent) },
		"copilot":  func(t *testing.T) clients.Client { return clients.Copilot(t, clients.CopilotCurrent) },
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			p := newPersonWith(t, client(t))
			if agent == "codex" || agent == "gemini" { // which take none for one launch
				p.umbra("hooks", "install", agent)
			}
			p.handover()
		})
	}
}

// stopsTurn ends the agent's turn with Esc.
func (s *terminal) stopsTurn() {
	s.p.Helper()
	d := s.p.speaks()
	switch {
	case d.hasty != "":
		var pressed time.Time
		s.watch("the turn to end", func() bool {
			if !strings.Contains(s.screen(), d.hasty) {
				return !pressed.IsZero()
			}
			if time.Since(pressed) > 3*time.Second {
				s.tmux("send-keys", "Escape", ";", "run-shell", "sleep 0.4", ";", "send-keys", "Escape")
				pressed = time.Now()
			}
			return false
		})
	case d.again != "":
		s.tmux("send-keys", "Escape")
		s.see(d.again)
		fallthrough
	default:
		s.tmux("send-keys", "Escape")
	}
}

func (p *person) handover() {
	p.Helper()
	d := p.speaks()
	s := p.terminal(slices.Concat([]string{umbraPath(), "mission", "new", "--name", "tui", "--"}, d.terminal)...)
	s.see(d.ready)
	k := p.talk("tui")
	s.turns(k)
	process := p.mission("tui").PID

	if r := asked[handed](p, "restore", "tui@1"); r.Handover.How != "relaunched" {
		p.Fatalf("the restore says %+v", r)
	}
	same(p.T, "the restored workspace", files(p.T, p.repo), k.ends[1].files)
	process = s.relaunched(process, "alpha done", "bravo done")
	if screen := s.screen(); strings.Contains(screen, "Conversation interrupted") { // as Codex says of a turn without its end
		p.Errorf("a conversation restored to the end of a turn is shown as\n%s", screen)
	}
	if r := asked[handed](p, "undo", "tui"); r.Handover.How != "relaunched" {
		p.Fatalf("the undo says %+v", r)
	}
	process = s.relaunched(process, "bravo done", "busy, please")
	same(p.T, "the workspace after undo", files(p.T, p.repo), k.ends[2].files)
	if r := asked[handed](p, "redo", "tui"); r.Handover.How != "relaunched" {
		p.Fatalf("the redo says %+v", r)
	}
	process = s.relaunched(process, "alpha done", "bravo done")

	s.stuck("busy", 3)
	p.refused(11, "--when-idle", "restore", "tui@2")
	if r := asked[handed](p, "restore", "tui@2", "--when-idle"); !r.Queued {
		p.Errorf("restore --when-idle says %+v", r)
	}
	s.stopsTurn()
	s.relaunched(process, "bravo done", "busy, please")
	same(p.T, "the workspace restored when the turn had ended", files(p.T, p.repo), k.ends[2].files)
	request := s.goesOn(k, "charlie", 4)
	if !strings.Contains(string(request.Body), "Umbra has put files that you may remember back") {
		p.Error("the model was not told that files were put back")
	}
	s.stops("tui")
}

// relaunched waits until another process is the agent, and shows a conversation in
// which has was said last and not was not. It returns the process. What is above
// Umbra's line is of the one before, which some leave on the screen.
func (s *terminal) relaunched(before int, has, not string) (process int) {
	s.p.Helper()
	s.watch("the agent to be there again", func() bool {
		screen := s.screen()
		screen = screen[max(0, strings.LastIndex(screen, "\numbra: ")):]
		process = s.p.mission("tui").PID
		return process != 0 && process != before &&
			strings.Contains(screen, has) && strings.Contains(screen, s.p.speaks().ready) && !strings.Contains(screen, not)
	})
	return process
}
