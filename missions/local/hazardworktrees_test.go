package local

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// plainWorktree is one that Git makes, as agents do by themselves.
func (c *talker) plainWorktree(at ...string) string {
	c.Helper()
	dir := filepath.Join(append([]string{c.dir, ".claude", "worktrees"}, at...)...)
	c.git("worktree", "add", "-q", "-b", filepath.Base(dir), dir)
	return dir
}

// put writes a file that belongs to no bench.
func (c *talker) putAt(content string, at ...string) {
	c.Helper()
	file := filepath.Join(at...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
		c.Fatal(err)
	}
}

// commitAt commits all there is in a worktree.
func (c *talker) commitAt(dir string) (id string) {
	c.Helper()
	c.git("-C", dir, "add", "-A")
	c.git("-C", dir, "commit", "-q", "--allow-empty", "-m", "work")
	return strings.TrimSpace(c.git("-C", dir, "rev-parse", "HEAD"))
}

// branchesOf are those that a commit is on.
func (c *talker) branchesOf(commit string) string {
	c.Helper()
	return c.git("for-each-ref", "--contains", commit, "--format=%(refname)")
}

// inSnapshots is a file as a mission's newest snapshot has it.
func (c *talker) inSnapshots(mission, path string) string {
	content, err := c.local.Cat(context.Background(), missions.CatRequest{Caller: c.caller(), Moment: mission, Path: path})
	if err != nil {
		return "(none)"
	}
	return string(content)
}

// TestCommitsOfARemovedWorktree: all is committed, and on no other branch.
func TestCommitsOfARemovedWorktree(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	naive := c.plainWorktree("unchanged")
	c.putAt("work\n", naive, "work.txt")
	lost := c.commitAt(naive)
	if c.git("-C", naive, "status", "--porcelain") == "" {
		c.git("worktree", "remove", naive)
		c.git("branch", "-D", "unchanged")
	}
	hazards.Shown(t, hazards.H56, c.branchesOf(lost) == "", "a worktree with a clean `git status` is removed with its branch, and no branch has its commits any more")

	dir := c.worktree("aside")
	c.putAt("work\n", dir, "work.txt")
	kept := c.commitAt(dir)
	c.git("-C", dir, "switch", "-q", "--detach")
	detached := c.commitAt(dir)
	if r := worktreeRemoval(c, c.caller(), dir); r.Problem != "" {
		t.Fatal(r.Problem)
	}
	for _, commit := range []string{kept, detached} {
		if c.branchesOf(commit) == "" {
			t.Errorf("%s is on no branch", commit)
		}
	}
	c.healthy()
	hazards.Held(t, hazards.H56, "each commit of a worktree that is removed stays on a branch")
}

// TestWorktreeInUseIsRemoved: a process goes on writing in a worktree that is removed.
func TestWorktreeInUseIsRemoved(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	naive := c.plainWorktree("locked")
	c.putAt("mine\n", naive, "untracked.txt")
	c.git("worktree", "lock", naive) // as one that can't be emptied, it is not removed by --force
	if _, err := hazards.Git(c.dir, "worktree", "remove", "--force", naive); err != nil {
		_ = os.RemoveAll(naive)
	}
	_, gone := os.Lstat(filepath.Join(naive, "untracked.txt"))
	hazards.Shown(t, hazards.H57, gone != nil, "`git worktree remove --force` fails, and the `rm -rf` that is tried next deletes what is tracked nowhere")

	dir := c.worktree("aside")
	c.putAt("mine\n", dir, "untracked.txt")
	log, err := os.Create(filepath.Join(dir, "build.out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	if r := worktreeRemoval(c, c.caller(), dir); r.Problem != "" {
		t.Fatal(r.Problem)
	}
	if _, err := log.WriteString("written later\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: c.caller(), Mission: "aside"}); err != nil {
		t.Fatal(err)
	}
	if c.contentOf(filepath.Join(dir, "untracked.txt")) != "mine\n" || c.contentOf(log.Name()) != "written later\n" {
		t.Error("what was there did not come back")
	}
	c.healthy()
	hazards.Held(t, hazards.H57, "what is removed goes to the trash whole, by a rename, with what a process writes there meanwhile; what can't go stays")
}

// TestWorktreesAreNotSwept: who removes all worktrees of a place that look old.
func TestWorktreesAreNotSwept(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	inside := c.plainWorktree("users-own")
	c.putAt("mine\n", inside, "mine.txt")
	naive := hazards.NewNaive(t, c.dir)
	hazards.Shown(t, hazards.H45, !strings.Contains(naive.Git("ls-tree", "-r", "--name-only", naive.Save()), "mine.txt"), "`git add` of the workspace takes no file of a worktree inside it")
	dir := c.worktree("agent-a1")
	c.putAt("found\n", dir, "found.txt")
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	c.local.Workers.Wait()
	old, err := filepath.Glob(filepath.Join(c.dir, ".claude", "worktrees", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, worktree := range old {
		c.git("worktree", "remove", "--force", worktree)
	}
	_, gone := os.Lstat(filepath.Join(inside, "mine.txt"))
	hazards.Shown(t, hazards.H58, gone != nil, "a sweep of `.claude/worktrees` with `git worktree remove --force` takes what nobody has committed, and whose worktree it was is not asked")

	if c.contentOf(filepath.Join(dir, "found.txt")) != "found\n" || c.inSnapshots("agent-a1", "found.txt") != "found\n" {
		t.Error("the fork was swept")
	}
	hazards.Held(t, hazards.H45, "a worktree that an agent asks for is a fork, and what is written there is in its snapshots")
	hazards.Held(t, hazards.H58, "an agent's worktree is no directory inside the workspace; none is removed by its age, and only what is landed or promoted by a setting, to the trash")
}

// TestWorktreeOutlivesItsAgent: another one still works there.
func TestWorktreeOutlivesItsAgent(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "delegate", "prompt_id": "p1"})
	naive, dir := c.plainWorktree("child"), c.worktree("agent-a1")
	works := func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "child.txt"), []byte("of the child\n"), 0o644)
	}
	c.git("worktree", "remove", naive) // unchanged, when the agent that asked for it has ended
	hazards.Shown(t, hazards.H59, works(naive) != nil, "a worktree that is unchanged at its agent's end is removed, and the agent that still works there can write nothing")

	c.hook("SubagentStop", map[string]any{"agent_id": "a1"})
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	c.local.Workers.Wait()
	if err := works(dir); err != nil {
		t.Error(err)
	}
	c.healthy()
	hazards.Held(t, hazards.H59, "an agent's end removes no worktree, changed or not")
}

// TestWorktreeDeletedByAnAgent, with the branch, as an agent does that is asked why it is there.
func TestWorktreeDeletedByAnAgent(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	naive := c.plainWorktree("plain")
	c.putAt("work\n", naive, "work.txt")
	c.git("worktree", "remove", "--force", naive)
	found, _ := hazards.Git(c.dir, "log", "--all", "--format=%H", "--", "work.txt")
	_, gone := os.Lstat(filepath.Join(naive, "work.txt"))
	hazards.Shown(t, hazards.H60, gone != nil && found == "", "what was not committed in a worktree is nowhere after `git worktree remove --force`")

	dir := c.worktree("aside")
	c.putAt("work\n", dir, "work.txt")
	c.hook("SubagentStop", map[string]any{"agent_id": "a1", "cwd": dir})
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	c.local.Workers.Wait()
	branch := strings.TrimSpace(c.git("-C", dir, "symbolic-ref", "--short", "HEAD"))
	c.git("worktree", "remove", "-f", "-f", dir)
	c.git("branch", "-D", branch)
	if _, err := c.local.Launch(context.Background(), missions.LaunchRequest{Caller: c.caller(), Mission: "aside", Resume: true, Recreate: dir}); err != nil {
		t.Fatal(err)
	}
	if got := c.contentOf(filepath.Join(dir, "work.txt")); got != "work\n" {
		t.Errorf("made again, the worktree has %q", got)
	}
	c.healthy()
	hazards.Held(t, hazards.H60, "what was written in an agent's worktree is in snapshots at the latest when a turn ends, and comes back with the worktree")
}
