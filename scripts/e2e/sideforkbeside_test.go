package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestSideForkBeside enters side forks from a Claude Code that its user has started by hand in
// tmux: the fork has a pane of its own there, both are live, and the fork ends each way.
func TestSideForkBeside(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	// What a fork of a session that was started by hand is launched with is its program alone.
	settings := filepath.Join(p.home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(settings), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings, []byte(`{"permissions":{"defaultMode":"bypassPermissions"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p.umbra("hooks", "install", "claude")
	s := p.terminal(p.client.Path)
	s.see(ready)
	s.tmux("set-option", "-g", "remain-on-exit", "off") // a pane closes with its command
	k := p.talk("tui")
	prompt, lines := k.prompt("alpha")
	s.enter(prompt)
	s.see("alpha done")
	p.wait("the session to be a mission", func() bool {
		list := asked[[]mission](p, "mission", "ls")
		return len(list) == 1 && list[0].State == "idle" && list[0].Turn == 1
	})
	p.umbra("mission", "rename", asked[[]mission](p, "mission", "ls")[0].Name, "tui")
	k.heard("alpha", lines)

	name := s.besides()
	f := k.forked(name, 1)
	s.goesOn(f, "bravo", 2)
	if m := p.mission("tui"); m.State != "idle" || m.Managed != "hooks" {
		t.Errorf("the parent is %+v", m)
	}
	same(t, "the parent's workspace", files(t, p.repo), k.ends[1].files)
	s.leaves("/umbra exit", name, "discarded")
	s.goesOn(k, "charlie", 2)

	name = s.besides()
	s.leaves("/umbra report a map is faster", name, "discarded")
	prompt, lines = k.prompt("delta")
	s.prompts("tui", prompt, 3)
	s.is("tui", "idle", 3)
	request, ok := p.server.Last(standin.Prompted("delta, please"))
	if !ok || strings.Count(string(request.Body), "| a map is faster") != 1 {
		t.Errorf("the parent's model was not told once what the fork has found")
	}
	k.heard("delta", lines)

	name = s.besides()
	f = k.forked(name, len(k.ends)-1)
	f.prompts(s, "echo", 4)
	s.is("tui", "idle", 3) // its client is busy with what was typed there, for some time
	s.types("/umbra promote")
	s.tmux("send-keys", "Enter")
	s.see("Press Enter to close this pane.")            // its user is told there what to type in the parent
	s.see("/resume " + p.mission("tui").SessionID[:20]) // the pane is narrow
	if m := p.mission(name); m.State != "closed" || m.ClosedHow != "promoted" {
		t.Errorf("the fork is %+v", m)
	}
	same(t, "the parent's workspace", files(t, p.repo), files(t, f.workspace))
	s.tmux("send-keys", "Enter")
	p.wait("its pane to close", func() bool { return strings.Count(s.tmux("list-panes"), "\n") == 1 })
	s.see(ready)
}

// prompts has a turn whose conversation nobody looks at.
func (k *talk) prompts(s *terminal, word string, turn int) {
	k.p.Helper()
	prompt, _ := k.prompt(word)
	s.prompts(k.mission, prompt, turn)
	s.is(k.mission, "idle", turn)
}

// besides enters a side fork by what is typed in the agent, in a pane beside it.
func (s *terminal) besides() (name string) {
	s.p.Helper()
	s.enter("/umbra fork")
	s.watch("a side fork beside its parent", func() bool {
		for _, m := range asked[[]mission](s.p, "mission", "ls") {
			if m.SideForkOf == "tui" && m.State == "idle" {
				name = m.Name
			}
		}
		return name != ""
	})
	s.p.wait("its pane", func() bool { return strings.Count(s.tmux("list-panes"), "\n") == 2 })
	s.see(ready)
	return name
}

// leaves leaves a side fork by what is typed in it, and waits for the end of its pane.
func (s *terminal) leaves(line, fork, how string) {
	s.p.Helper()
	s.types(line)
	s.tmux("send-keys", "Enter")
	s.watch("the side fork to be left", func() bool { return s.p.mission(fork).State == "closed" })
	if m := s.p.mission(fork); m.ClosedHow != how {
		s.p.Errorf("the fork is %+v", m)
	}
	s.p.wait("its pane to close", func() bool { return strings.Count(s.tmux("list-panes"), "\n") == 1 })
	s.see(ready)
}
