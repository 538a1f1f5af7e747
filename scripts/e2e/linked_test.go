package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/clients"
)

// TestLinkedWorktree works in a linked worktree of Git's with hooks for that place
// alone, restores there, and lets Claude Code clean up what is old: it takes the
// session that was left long ago, and none that Umbra has made of it.
func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	main := p.repo
	p.repo = filepath.Join(p.home, "linked")
	if out := p.run(main, "git", "worktree", "add", "-q", "-b", "linked", p.repo); out.code != 0 {
		t.Fatalf("%s", out)
	}
	untouched := files(t, main)
	p.umbra("hooks", "install", "claude", "--project")
	k := p.talk("hand")
	k.say("alpha", p.byHand()...)
	list := asked[[]mission](p, "mission", "ls", "--all")
	if len(list) != 1 || list[0].Workspace != p.repo || list[0].Turn != 1 {
		t.Fatalf("after a turn in the linked worktree the missions are %+v", list)
	}
	p.umbra("mission", "rename", list[0].Name, "hand")
	left := p.mission("hand")
	k.say("bravo", p.byHand("--resume", left.SessionID)...)
	p.umbra("restore", "hand@1")
	same(t, "the restored worktree", files(t, p.repo), k.ends[1].files)
	p.umbra("fork", "hand@2", "--name", "f", "--no-launch")

	long := time.Now().AddDate(0, 0, -40)
	if err := os.Chtimes(left.SessionPath, long, long); err != nil {
		t.Fatal(err)
	}
	p.cleans(left.SessionPath)
	back, fork := k.at(1), k.forked("f", 2)
	back.say("charlie", p.byHand("--resume", p.mission("hand").SessionID)...)
	fork.say("delta")
	if m := p.mission("hand"); m.ID != left.ID || m.Turn != 3 {
		t.Errorf("after a turn on the restored conversation the mission is %+v", m)
	}
	same(t, "the main worktree", files(t, main), untouched)
}

// cleans has Claude Code remove sessions that are older than thirty days, which it
// does some seconds after its start, if not on the same day already, until it has
// taken that file.
func (p *person) cleans(old string) {
	p.Helper()
	if err := os.Remove(filepath.Join(p.home, ".claude", ".last-cleanup")); err != nil && !os.IsNotExist(err) {
		p.Fatal(err)
	}
	agent := p.startIn(p.T.TempDir(), p.byHand("clean, please [[wait cleaned]] [[say clean done]]")...)
	p.wait("Claude Code to take the old session", func() bool {
		_, err := os.Stat(old)
		return os.IsNotExist(err)
	})
	p.server.Release("cleaned")
	if code := agent.wait(p.T); code != 0 {
		p.Errorf("it ended with %d: %s", code, agent.said())
	}
}

// TestForkOfWorktree forks a mission whose agent has gone to work in a worktree of its
// own, which a hook of the user's has made outside of the workspace: the fork's agent
// works in the fork.
func TestForkOfWorktree(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	own := filepath.Join(p.home, "own")
	settings := filepath.Join(p.home, ".claude", "settings.json")
	hook := `{"hooks":{"WorktreeCreate":[{"hooks":[{"type":"command","command":"git clone -q . ` + own + ` && echo ` + own + `"}]}]}}`
	if err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700), os.WriteFile(settings, []byte(hook), 0o600)); err != nil {
		t.Fatal(err)
	}
	p.umbra(slices.Concat([]string{"mission", "new", "--name", "m"}, args(`alpha [[bash cmd="echo one > alpha.txt"]] [[say alpha done]]`), []string{"-w", "nat"})...)
	if got, err := os.ReadFile(filepath.Join(own, "alpha.txt")); string(got) != "one\n" {
		t.Fatalf("alpha.txt in the worktree: %q, %v", got, err)
	}
	p.umbra("mission", "new", "--clone", "m", "--name", "f", "--prompt", `bravo [[bash cmd="echo two > bravo.txt"]] [[say bravo done]]`)
	if got, err := os.ReadFile(filepath.Join(p.mission("f").Workspace, "bravo.txt")); string(got) != "two\n" {
		t.Errorf("bravo.txt in the fork: %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(own, "bravo.txt")); err == nil {
		t.Error("the fork's agent has worked in its source's worktree")
	}
}
