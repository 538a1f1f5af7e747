package local

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestWorktreeIsFound: an agent goes to work in a worktree inside the workspace that nobody
// asked of Umbra. It has a mission from then on, and its user is told once.
func TestWorktreeIsFound(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "delegate", "prompt_id": "p1"})
	own := c.only()
	said := ""
	works := func(name, in, agent string) string {
		dir := c.plainWorktree(name)
		c.putAt("found\n", dir, in, "found.txt")
		for _, event := range []string{"PreToolUse", "PostToolUse"} {
			r := c.hook(event, map[string]any{
				"tool_name": "Bash", "tool_use_id": name, "tool_input": map[string]any{"command": "make"}, "agent_id": agent, "cwd": filepath.Join(dir, in),
			})
			said += string(r.Output)
		}
		return dir
	}
	feat := works("feat", "sub", "")
	if got := c.inSnapshots("feat", "sub/found.txt"); got != "found\n" || strings.Count(said, "is kept from now on, as mission feat") != 1 || strings.Contains(said, "not kept") {
		t.Errorf("found.txt is %q in the snapshot, and its user is told %s", got, said)
	}
	c.unkept("of one", 0)
	works("agent-a1", "", "a1")
	if got := c.inSnapshots("agent-a1", "found.txt"); got != "found\n" {
		t.Errorf("of a subagent: %q", got)
	}
	again := filepath.Join(c.dir, ".claude", "worktrees", "by-hand")
	c.git("worktree", "add", "-q", "-b", "by-hand", again)
	hand := missions.NewMissionRequest{Caller: c.caller(), Name: "mine", Workspace: again, Command: []string{"sh"}}
	if _, err := c.local.NewMission(context.Background(), hand); err != nil {
		t.Fatal(err)
	}
	c.putAt("late\n", again, "late.txt")
	c.hook("PostToolUse", map[string]any{"tool_name": "Bash", "cwd": again})
	if got := c.inSnapshots("mine", "late.txt"); got != "late\n" || len(c.missionsNow()) != 4 {
		t.Errorf("late.txt is %q; missions: %+v", got, c.missionsNow())
	}
	if r := worktreeRemoval(c, c.caller(), feat); r.Problem == "" || c.contentOf(filepath.Join(feat, "sub", "found.txt")) != "found\n" {
		t.Errorf("it was removed: %q", r.Problem)
	}
	c.hook("Stop", map[string]any{"prompt_id": "p1"})
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	c.local.Workers.Wait()
	for name, m := range c.missionsNow() {
		if (m.State == missions.StateClosed) == (name == "mine") || m.ID == own.ID && (m.Turn != 1 || m.Workspace != c.dir) {
			t.Errorf("%s: %+v", name, m)
		}
	}
	c.healthy()
}

// TestFoundWorktreeOverTheBudget: no mission is begun, and that is said.
func TestFoundWorktreeOverTheBudget(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	dir := c.plainWorktree("feat")
	for i := range 5 {
		c.putAt("x\n", dir, fmt.Sprint(i))
	}
	c.local.Config.Capture.MaxFiles = 3
	r := c.hook("PostToolUse", map[string]any{"tool_name": "Bash", "cwd": dir})
	if !strings.Contains(string(r.Output), "is not kept") || len(c.missionsNow()) != 1 {
		t.Errorf("its user is told %s", r.Output)
	}
	c.local.Config.Capture.MaxFiles = 100
	c.hook("PostToolUse", map[string]any{"tool_name": "Bash", "cwd": dir})
	if len(c.missionsNow()) != 1 {
		t.Error("it was walked again in the same turn")
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "p2", "cwd": dir})
	c.unkept("once there is room", 0)
	if got := c.inSnapshots("feat", "0"); got != "x\n" {
		t.Errorf("then it has %q", got)
	}
}

// TestWorktreeWithinAFork: what a fork's snapshots leave out is not theirs.
func TestWorktreeWithinAFork(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	fork := c.worktree("aside")
	c.hook("PostToolUse", map[string]any{"tool_name": "Bash", "cwd": fork})
	inside := filepath.Join(fork, ".claude", "worktrees", "inside")
	c.git("-C", fork, "worktree", "add", "-q", "-b", "inside", inside)
	c.putAt("mine\n", inside, "mine.txt")
	r := c.hook("PostToolUse", map[string]any{"tool_name": "Bash", "cwd": inside})
	if !strings.Contains(string(r.Output), "not kept") {
		t.Errorf("of a worktree in a fork, the source's agent is told %q", r.Output)
	}
	other := *c
	other.session = "7d5d2a1e-0f7c-4c0e-9d55-5a3f0c1d2e3f"
	other.dir = fork
	other.hook("SessionStart", map[string]any{"source": "startup"})
	for range 2 {
		other.hook("PostToolUse", map[string]any{"tool_name": "Bash", "cwd": inside})
	}
	if got := c.inSnapshots("inside", "mine.txt"); got != "mine\n" {
		t.Errorf("mine.txt is %q in the worktree's mission; missions: %+v", got, c.missionsNow())
	}
}

// TestFoundWorktreeIsLeftAlone where its user wants none, or has removed the one there was;
// one that is gone is no fault.
func TestFoundWorktreeIsLeftAlone(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	works := func(dir string) string {
		return string(c.hook("PostToolUse", map[string]any{"tool_name": "Bash", "cwd": dir}).Output)
	}
	c.local.Config.Adopt.Exclude = []string{filepath.Join(c.dir, ".claude", "worktrees", "not")}
	if said := works(c.plainWorktree("not")); !strings.Contains(said, "not kept") || len(c.missionsNow()) != 1 {
		t.Errorf("of one that is excluded, its user is told %q", said)
	}
	feat, gone := c.plainWorktree("feat"), c.plainWorktree("gone")
	works(feat)
	works(gone)
	if _, err := c.local.Remove(context.Background(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{"feat"}}); err != nil {
		t.Fatal(err)
	}
	works(feat)
	if c.unkept("of one whose mission was removed", 1); len(c.missionsNow()) != 2 {
		t.Errorf("missions: %+v", c.missionsNow())
	}
	c.git("worktree", "remove", gone)
	works(c.dir)
	c.unkept("when its agent is back", 0)
	c.healthy()
	s, err := c.local.Status(context.Background(), missions.StatusRequest{Caller: c.caller()})
	if err != nil || len(s.Problems) > 0 {
		t.Errorf("status says %+v, %v", s.Problems, err)
	}
}
