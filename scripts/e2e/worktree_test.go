package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// worktreeOf is the one mission with a parent, or the test ends.
func (p *person) worktreeOf(name string) mission {
	p.Helper()
	for _, m := range asked[[]mission](p, "mission", "ls", "--all") {
		if m.Name == name {
			return m
		}
	}
	p.Fatalf("there is no mission %s: %+v", name, asked[[]mission](p, "mission", "ls", "--all"))
	return mission{}
}

// TestAgentsWorktrees: a worktree that Claude Code asks for, by -w or for a subagent, is a
// fork with what was neither committed nor tracked; what is written there is in its
// snapshots.
func TestAgentsWorktrees(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	p.umbra("hooks", "install", "claude")
	if err := os.WriteFile(filepath.Join(p.repo, "unsaved.txt"), []byte("unsaved\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	k := p.talk("hand")
	k.say("alpha", p.byHand()...)
	if out := p.run(p.repo, append(p.byHand("-w", "feat"), `bravo [[bash cmd="cp unsaved.txt bravo.txt"]] [[say bravo done]]`)...); out.code != 0 {
		t.Fatalf("%s", out)
	}
	feat := p.worktreeOf("feat")
	if feat.Workspace == "" || strings.HasPrefix(feat.Workspace, p.repo) || feat.SessionID == "" || feat.State != "closed" {
		t.Errorf("the worktree's mission is %+v", feat)
	}
	if got := p.umbra("cat", "feat", "bravo.txt"); got != "unsaved\n" {
		t.Errorf("bravo.txt in the newest snapshot: %q", got)
	}
	if out := p.run(p.repo, append(p.byHand("-w", "feat"), `charlie [[bash cmd="echo three > charlie.txt"]] [[say charlie done]]`)...); out.code != 0 {
		t.Fatalf("%s", out)
	}
	if _, err := os.Stat(filepath.Join(feat.Workspace, "charlie.txt")); err != nil {
		t.Errorf("the same name has another place: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Join(p.repo, ".claude", "worktrees")); err == nil {
		t.Errorf("Git made %v", entries)
	}
}
