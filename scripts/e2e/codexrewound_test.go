package e2e

import (
	"slices"
	"strings"
	"testing"
)

// TestCodexRewound goes back to an earlier prompt in Codex itself (Esc Esc), under the
// keeper and in a Codex that was started by hand: the mission goes on in the session
// that it has, a fork has the conversation as it went on, and a restore that which was
// taken back.
func TestCodexRewound(t *testing.T) {
	t.Parallel()
	t.Run("kept", func(t *testing.T) {
		t.Parallel()
		p := newCodex(t)
		d := p.speaks()
		s := p.terminal(slices.Concat([]string{umbraPath(), "mission", "new", "--name", "tui", "--"}, d.terminal)...)
		s.see(d.ready)
		k := p.talk("tui")
		s.turns(k)
		before := p.mission("tui")
		s.goesBack("bravo")
		s.is("tui", "idle", 2)
		back := k.at(1)
		s.goesOn(back, "charlie", 3)
		if m := p.mission("tui"); m.SessionID != before.SessionID || m.SessionPath == before.SessionPath || m.PID != before.PID {
			t.Errorf("after going back the mission is %+v, was %+v", m, before)
		}
		p.forkOf(back, "tui")
		if r := asked[handed](p, "restore", "tui@2", "--all"); r.Handover.How != "relaunched" {
			t.Fatalf("the restore says %+v", r)
		}
		s.relaunched(before.PID, "bravo done", "charlie done")
		s.goesOn(k.at(2), "echo", 4)
	})
	t.Run("by hand", func(t *testing.T) {
		t.Parallel()
		p := newCodex(t, "UMBRA_NO_DAEMON=1")
		d := p.speaks()
		s := p.terminal(d.terminal...)
		s.see(d.ready)
		k, id := p.talk(""), ""
		prompt, lines := k.prompt("alpha")
		s.enter(prompt)
		s.see("alpha done")
		p.wait("the session to be a mission", func() bool {
			if list := asked[[]mission](p, "mission", "ls"); len(list) == 1 {
				id = list[0].ID
			}
			return id != ""
		})
		s.is(id, "idle", 1)
		k.heard("alpha", lines)
		k.mission = id
		prompt, _ = k.prompt("bravo")
		s.prompts(k.mission, prompt, 2)
		s.see("bravo done")
		before := s.is(k.mission, "idle", 2)
		s.goesBack("bravo")
		s.goesOn(k, "charlie", 3)
		if m := p.mission(k.mission); m.SessionID != before.SessionID || m.SessionPath == before.SessionPath {
			t.Errorf("after going back the mission is %+v, was %+v", m, before)
		}
		p.forkOf(k, k.mission)
		s.enter("/quit")
		s.ends()
		s.is(k.mission, "closed", 3)
	})
}

// goesBack goes back in Codex to before its last prompt, and leaves that out. Hooks hear
// of a turn's end a moment before Codex has ended it, which Esc would interrupt.
func (s *terminal) goesBack(prompt string) {
	s.p.Helper()
	s.watch("the turn to have ended", func() bool {
		_, after, said := strings.Cut(s.screen(), "• "+prompt+" done")
		return said && strings.Contains(after, "Worked for")
	})
	s.tmux("send-keys", "Escape")
	s.see("esc again")
	s.tmux("send-keys", "Escape")
	s.see("rewind")
	s.tmux("send-keys", "Enter")
	s.see("Conversation reverted")
	s.tmux("send-keys", "C-u")
	s.watch("the input to be empty", func() bool { return !strings.Contains(s.screen(), prompt) })
}

// forkOf forks a mission now and lets the fork go on: its model is sent what was said
// in the talk, and nothing else.
func (p *person) forkOf(k *talk, moment string) {
	p.Helper()
	p.umbra("fork", moment, "--name", "now", "--no-launch")
	fork := &talk{p: p, mission: "now", workspace: p.mission("now").Workspace}
	for _, line := range k.lines {
		fork.lines = append(fork.lines, strings.ReplaceAll(line, k.workspace, fork.workspace))
	}
	fork.say("delta")
}
