package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestBackgroundSession: Claude Code works on without a terminal (--bg, /background), in a
// process of its own. What it writes is in snapshots, also in a worktree that it enters.
func TestBackgroundSession(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	p.umbra("hooks", "install", "claude")
	if err := os.WriteFile(filepath.Join(p.repo, "unsaved.txt"), []byte("unsaved\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := p.run(p.repo, p.client.Path, "--bg", "--settings", `{"permissions":{"allow":["Bash","EnterWorktree"]}}`,
		`golf [[tool name=EnterWorktree input="{\"name\":\"apart\"}"]] [[bash cmd="cp unsaved.txt golf.txt"]] [[say golf done]]`)
	if out.code != 0 {
		t.Fatalf("%s", out)
	}
	var golf mission
	p.wait("the turn of the background session to end", func() bool {
		for _, m := range asked[[]mission](p, "mission", "ls") {
			if m.Workspace == p.repo {
				golf = m
			}
		}
		return golf.Turn == 1 && golf.State == "idle"
	})
	apart := p.mission("apart")
	if strings.HasPrefix(apart.Workspace, p.repo) {
		t.Errorf("the worktree is inside the repository: %+v", apart)
	}
	if got := p.umbra("cat", "apart", "golf.txt"); got != "unsaved\n" {
		t.Errorf("golf.txt in the newest snapshot: %q", got)
	}

	s := p.terminal(umbraPath(), "mission", "new", "--name", "tui", "--", "claude", "--dangerously-skip-permissions")
	s.see(ready)
	s.prompts("tui", "hotel [[say hotel done]]", 1)
	s.enter("/background")
	s.ends()
	var on mission
	p.wait("the conversation to go on in the background", func() bool {
		for _, m := range asked[[]mission](p, "mission", "ls") {
			if m.SessionID != p.mission("tui").SessionID && m.ID != golf.ID && m.ID != apart.ID {
				on = m
			}
		}
		return on.State == "idle"
	})
	if said := p.umbra("mission", "show", on.ID); !strings.Contains(said, "it was begun by the agent of tui") || on.Workspace != p.repo {
		t.Errorf("the background session of tui: %s", said)
	}
	for _, m := range []mission{golf, on} {
		if out := p.run(p.repo, p.client.Path, "stop", m.SessionID[:8]); out.code != 0 {
			t.Errorf("%s", out)
		}
		p.wait("the mission of what was stopped to be closed", func() bool { return p.mission(m.ID).State == "closed" })
	}
	if _, err := os.Stat(filepath.Join(apart.Workspace, "golf.txt")); err != nil {
		t.Errorf("after the session was stopped: %v", err)
	}
	p.wait("the worktree's mission to be closed", func() bool { return p.mission("apart").State == "closed" })
}
