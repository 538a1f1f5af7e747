package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// worktreeOf is the one mission whose name begins so, or the test ends.
func (p *person) worktreeOf(name string, but ...string) mission {
	p.Helper()
	list := asked[[]mission](p, "mission", "ls", "--all")
	for _, m := range list {
		if strings.HasPrefix(m.Name, name) && !slices.Contains(but, m.ID) {
			return m
		}
	}
	p.Fatalf("there is no mission %s: %+v", name, list)
	return mission{}
}

// delegated has the model give a prompt to a subagent with a worktree of its own.
func delegated(prompt string) string {
	b, _ := json.Marshal(map[string]string{"subagent_type": "general-purpose", "description": "helper", "prompt": prompt, "isolation": "worktree"}) // strings always marshal
	return fmt.Sprintf("[[tool name=Agent input=%q]]", b)
}

// TestAgentsWorktrees: a worktree that Claude Code asks for, by -w or for a subagent, is a
// fork with what was neither committed nor tracked; what is written there is in its
// snapshots.
func TestAgentsWorktrees(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	for file, content := range map[string]string{"unsaved.txt": "unsaved\n", ".git/info/exclude": "built.out\n"} {
		if err := os.WriteFile(filepath.Join(p.repo, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out := p.run(p.repo, append(p.byHand(), "none "+delegated(`alone, please [[bash cmd="pwd >built.out && cp built.out $HOME/worked-in"]] [[say alone done]]`)+" [[say none done]]")...); out.code != 0 {
		t.Fatalf("%s", out)
	}
	where, err := os.ReadFile(filepath.Join(p.home, "worked-in"))
	if err != nil {
		t.Fatal(err)
	}
	_, gone := os.Stat(filepath.Join(strings.TrimSpace(string(where)), "built.out"))
	hazards.Shown(t, hazards.H59, gone != nil, "Claude Code removes the worktree of a subagent that has changed nothing but what Git ignores")
	p.umbra("hooks", "install", "claude")
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
	if entries, err := os.ReadDir(filepath.Join(p.repo, ".claude", "worktrees")); err == nil && len(entries) > 0 {
		t.Errorf("Git made %v", entries)
	}

	if out := p.run(p.repo, append(p.byHand(), "delta "+delegated(`sub, please [[bash cmd="cp unsaved.txt sub.txt; pwd >built.out"]] [[say sub done]]`)+" [[say delta done]]")...); out.code != 0 {
		t.Fatalf("%s", out)
	}
	sub := p.worktreeOf("agent-")
	p.wait("the subagent's mission to be closed", func() bool { return p.mission(sub.Name).State == "closed" })
	if got := p.umbra("cat", sub.Name, "sub.txt"); got != "unsaved\n" {
		t.Errorf("sub.txt in the newest snapshot: %q", got)
	}
	if _, err := os.Stat(filepath.Join(sub.Workspace, "built.out")); err != nil {
		t.Error(err)
	}

	p.startIn(p.repo, append(p.byHand(), "echo "+delegated(`late, please [[bash cmd="echo late > late.txt"]] [[wait killed]]`))...)
	var late mission
	p.wait("the second subagent to write", func() bool {
		list := asked[[]mission](p, "mission", "ls", "--all")
		i := slices.IndexFunc(list, func(m mission) bool { return strings.HasPrefix(m.Name, "agent-") && m.ID != sub.ID })
		if i < 0 {
			return false
		}
		late = list[i]
		_, err := os.Stat(filepath.Join(late.Workspace, "late.txt"))
		return err == nil
	})
	list := asked[[]mission](p, "mission", "ls", "--all")
	i := slices.IndexFunc(list, func(m mission) bool { return m.PID > 0 })
	if i < 0 {
		t.Fatalf("no mission names the agent's process: %+v", list)
	}
	if err := syscall.Kill(list[i].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.wait("what was left by the kill to be closed", func() bool { return p.mission(late.Name).State == "closed" })
	if got := p.umbra("cat", late.Name, "late.txt"); got != "late\n" {
		t.Errorf("late.txt in the newest snapshot: %q", got)
	}
	p.server.Release("killed")
	hazards.Held(t, hazards.H59, "the worktree of a real client's subagent stays after its end, and after a kill")
}

// TestWorktreeRemovedByDialog leaves a worktree by Claude Code's own dialog, with "Remove":
// it lies in the trash then, with what Git ignores, and comes back.
func TestWorktreeRemovedByDialog(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	p.umbra("hooks", "install", "claude")
	s := p.terminal("claude", "-w", "golf", "--dangerously-skip-permissions")
	s.see(ready)
	golf := p.worktreeOf("golf")
	s.prompts(golf.ID, `hotel, please [[bash cmd="echo kept > hotel.txt"]] [[say hotel done]]`, 1)
	s.is(golf.ID, "idle", 1)
	s.enter("/exit")
	s.see("Remove")
	s.tmux("send-keys", "Down")
	s.tmux("send-keys", "Enter")
	s.ends()
	if _, err := os.Stat(golf.Workspace); !os.IsNotExist(err) {
		t.Errorf("the worktree after its removal: %v", err)
	}
	p.umbra("trash", "restore", "golf")
	if b, err := os.ReadFile(filepath.Join(golf.Workspace, "hotel.txt")); string(b) != "kept\n" {
		t.Errorf("hotel.txt out of the trash: %q %v", b, err)
	}
}
