package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/worktrees"
)

// worktreeBench is a repository in which an agent asks for worktrees.
func worktreeBench(t *testing.T) *talker {
	t.Helper()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.git("init", "-q", "-b", "main")
	b.write(".gitignore", ".env\n")
	b.write("a.txt", "committed\n")
	b.git("add", ".")
	b.git("commit", "-qm", "first")
	b.write(".env", "SECRET=1\n")
	b.write("a.txt", "changed\n")
	b.write("new.txt", "new\n")
	return newTalker(b)
}

// worktree asks for one and gives its directory.
func (c *talker) worktree(name string) string {
	c.Helper()
	r := c.hook("WorktreeCreate", map[string]any{"name": name})
	return strings.TrimSuffix(string(r.Output), "\n")
}

func (b *testBench) contentOf(file string) string {
	b.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	return string(content)
}

func (b *testBench) missionsNow() map[string]missions.Mission {
	b.Helper()
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	byName := map[string]missions.Mission{}
	for _, m := range list {
		byName[m.Name] = m
	}
	return byName
}

// TestWorktreeIsAFork: a subagent's worktree is a fork of what its mission has now, in the
// middle of the turn; what is written there is in snapshots of the fork, and the parent's
// conversation and files are as they were.
func TestWorktreeIsAFork(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "delegate", "prompt_id": "p1"})
	dir := c.worktree("agent-a1b2c3")
	for file, want := range map[string]string{".env": "SECRET=1\n", "a.txt": "changed\n", "new.txt": "new\n"} {
		if got := c.contentOf(filepath.Join(dir, file)); got != want {
			t.Errorf("the worktree has %s as %q, want %q", file, got, want)
		}
	}
	if again := c.worktree("agent-a1b2c3"); again != dir {
		t.Errorf("the same name has %s and then %s", dir, again)
	}
	fork, ok := c.missionsNow()["agent-a1b2c3"]
	if !ok || fork.Workspace != dir || fork.Parent == nil || len(c.missionsNow()) != 2 {
		t.Fatalf("missions: %+v", c.missionsNow())
	}
	tool := map[string]any{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": map[string]any{"command": "make"}, "agent_id": "a1b2c3", "cwd": dir}
	said := string(c.hook("PreToolUse", tool).Output)
	if err := os.WriteFile(filepath.Join(dir, "result.txt"), []byte("found\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	said += string(c.hook("PostToolUse", tool).Output)
	if strings.Contains(said, "not kept") {
		t.Errorf("the agent's user is told %q", said)
	}
	got, err := c.local.Cat(context.Background(), missions.CatRequest{Caller: c.caller(), Moment: "agent-a1b2c3", Path: "result.txt"})
	if err != nil || string(got) != "found\n" {
		t.Errorf("the fork's newest snapshot has %q, %v", got, err)
	}
	c.hook("Stop", map[string]any{"prompt_id": "p1"})
	c.unkept("afterwards", 0)
	for name, m := range c.missionsNow() {
		if name != "agent-a1b2c3" && (m.SessionID != c.session || m.Turn != 1) {
			t.Errorf("the parent: %+v", m)
		}
	}
	if _, err := os.Stat(filepath.Join(c.dir, "result.txt")); err == nil {
		t.Error("the parent's workspace has the file")
	}
	promoted, err := c.local.Promote(context.Background(), missions.PromoteRequest{Caller: c.caller(), Fork: "agent-a1b2c3"})
	if err != nil {
		t.Fatalf("promote: %+v, %v", promoted, err)
	}
	if c.contentOf(filepath.Join(c.dir, "result.txt")) != "found\n" {
		t.Error("promotion brings nothing home")
	}
	other := c.worktree("other")
	if err := os.WriteFile(filepath.Join(other, "merged.txt"), []byte("merged\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.local.Merge(context.Background(), missions.MergeRequest{Caller: c.caller(), Step: missions.MergeBegin, Forks: []string{"other"}}); err != nil {
		t.Fatal(err)
	}
	if c.contentOf(filepath.Join(c.dir, "merged.txt")) != "merged\n" {
		t.Error("a merge brings nothing home")
	}
	c.healthy()
}

// TestWorktreeOfASession: a session that begins in a worktree is the fork's own.
func TestWorktreeOfASession(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	second := newTalker(c.testBench)
	second.session = "22222222-2222-4222-8222-222222222222"
	dir := second.worktree("feature/login")
	second.transcript = filepath.Join(second.user, ".claude", "projects", "-fork", second.session+".jsonl")
	second.dir = dir
	second.hook("SessionStart", map[string]any{"source": "startup"})
	second.takeTurn("write it", "b.txt", "b\n")
	list := c.missionsNow()
	fork := list["feature-login"]
	if len(list) != 2 || fork.SessionID != second.session || fork.Turn != 1 || fork.Workspace != dir {
		t.Fatalf("missions: %+v", list)
	}
	second.hook("SessionEnd", map[string]any{"reason": "other"})
	if fork = c.missionsNow()["feature-login"]; fork.State != missions.StateClosed {
		t.Errorf("the fork is %s", fork.State)
	}
	c.healthy()
}

// TestWorktreeRemoved: what an agent is done with goes to the trash, after a last snapshot,
// and comes back as it was, ignored files too.
func TestWorktreeRemoved(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	dir := c.worktree("aside")
	for file, content := range map[string]string{"last.txt": "last\n", ".env": "SECRET=2\n"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.hook("WorktreeRemove", map[string]any{"worktree_path": dir, "cwd": dir})
	if _, err := os.Lstat(dir); err == nil {
		t.Fatal("it is still there")
	}
	if _, there := c.missionsNow()["aside"]; there {
		t.Error("it is still listed")
	}
	m, err := c.local.Unremove(context.Background(), missions.UnremoveRequest{Caller: c.caller(), Mission: "aside"})
	if err != nil || m.Workspace != dir || c.contentOf(filepath.Join(dir, "last.txt")) != "last\n" || c.contentOf(filepath.Join(dir, ".env")) != "SECRET=2\n" {
		t.Errorf("brought back: %+v, %v", m, err)
	}
	if again := c.worktree("aside"); again != dir {
		t.Errorf("its name leads to %s, and not to %s", again, dir)
	}
	got, err := c.local.Cat(context.Background(), missions.CatRequest{Caller: c.caller(), Moment: "aside", Path: "last.txt"})
	if err != nil || string(got) != "last\n" {
		t.Errorf("its last snapshot has %q, %v", got, err)
	}
	c.healthy()
}

// TestWorktreeOfOthersStays: only what an agent has asked for is removed, and of that
// nothing that is nowhere else.
func TestWorktreeOfOthersStays(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	r, err := worktrees.RepositoryAt(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(c.user, name) }
	plain := func(name string, asked bool, how ...string) {
		c.git(append(append([]string{"worktree", "add", "-q"}, how...), at(name))...)
		if !asked {
			return
		}
		if err := r.Note(context.Background(), c.local.Home, worktrees.Place{Name: name, Dir: at(name)}); err != nil {
			t.Fatal(err)
		}
	}
	plain("mine", false, "-b", "mine")
	plain("dirty", true, "-b", "dirty")
	plain("ignored", true, "-b", "ignored")
	plain("ahead", true, "--detach")
	plain("clean", true, "-b", "clean")
	plain("behind", true, "--detach")
	for _, file := range []string{"dirty/x.txt", "ignored/.env"} {
		if err := os.WriteFile(at(file), []byte("mine\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.git("-C", at("ahead"), "commit", "-q", "--allow-empty", "-m", "on no branch")
	for dir, stays := range map[string]bool{
		c.dir: true, c.user: true, at("mine"): true, at("dirty"): true, at("ignored"): true, at("ahead"): true, at("clean"): false, at("behind"): false,
	} {
		said := worktreeRemoval(c, c.caller(), dir)
		_, err := os.Lstat(dir)
		if (err == nil) != stays || (said.Problem != "") != stays {
			t.Errorf("%s: %v, and the hook says %q", dir, err, said.Problem)
		}
	}
}

// TestWorktreeOfACopyRemoved: without Git, and where nothing is committed, a fork is a copy.
func TestWorktreeOfACopyRemoved(t *testing.T) {
	t.Parallel()
	for what, isRepository := range map[string]bool{"without Git": false, "without a commit": true} {
		b := newBench(t)
		b.local.Adapters = projects.Agents()
		if isRepository {
			b.git("init", "-q", "-b", "main")
		}
		b.write("a.txt", "a\n")
		c := newTalker(b)
		c.hook("SessionStart", map[string]any{"source": "startup"})
		dir := c.worktree("aside")
		if c.contentOf(filepath.Join(dir, "a.txt")) != "a\n" || c.worktree("aside") != dir {
			t.Errorf("%s: it is in %s, and then in another place", what, dir)
		}
		r := worktreeRemoval(c, c.caller(), dir)
		if _, err := os.Lstat(dir); err == nil || r.Problem != "" {
			t.Errorf("%s: it is still there: %q", what, r.Problem)
		}
	}
}

// TestWorktreeIsMadeAnew where the mission of a name is removed or works elsewhere, though a
// directory is left.
func TestWorktreeIsMadeAnew(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	first := c.worktree("aside")
	if _, err := c.local.Remove(context.Background(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{"aside"}}); err != nil {
		t.Fatal(err)
	}
	second := c.worktree("aside")
	if second == first || c.contentOf(filepath.Join(second, "new.txt")) != "new\n" {
		t.Errorf("a removed mission's: %s, then %s", first, second)
	}
	if err := os.Remove(filepath.Join(second, ".git")); err != nil {
		t.Fatal(err)
	}
	third := c.worktree("aside")
	if third == second || c.contentOf(filepath.Join(third, "new.txt")) != "new\n" {
		t.Errorf("leftovers: %s, then %s", second, third)
	}
	if again := c.worktree("aside"); again != third {
		t.Errorf("its name leads to %s, and not to %s", again, third)
	}
	if r := worktreeRemoval(c, c.caller(), second); r.Problem == "" {
		t.Error("what the name leads to no more is removed")
	}
}

// TestWorktreeRemovedByItsOwnAgent: the session that works in a worktree asks for its removal
// before it ends; nobody else's is taken from under it.
func TestWorktreeRemovedByItsOwnAgent(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	dir := c.worktree("aside")
	fork := c.missionsNow()["aside"].ID
	agent := c.keep(fork)
	for _, asker := range []int{0, os.Getpid(), agent.Process.Pid} {
		r, err := c.local.Hook(context.Background(), missions.HookRequest{Caller: c.caller(), Agent: "claude", AgentPID: asker, Payload: []byte(
			`{"session_id":"` + c.session + `","cwd":"` + dir + `","hook_event_name":"WorktreeRemove","worktree_path":"` + dir + `"}`)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = os.Lstat(dir)
		_, trashed := os.Lstat(c.local.Home.Path("trash", fork))
		if own := asker == agent.Process.Pid; (r.Problem == "") != own || (err != nil) != own || (trashed == nil) != own {
			t.Errorf("asked by %d, with %d at work: %q, %v, %v", asker, agent.Process.Pid, r.Problem, err, trashed)
		}
	}
}

// TestPlainWorktreesInStatus: those of the repository that is asked about, while they are there.
func TestPlainWorktreesInStatus(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	other := filepath.Join(c.user, "other")
	c.git("init", "-q", other)
	c.git("-C", other, "commit", "-q", "--allow-empty", "-m", "first")
	for name, repo := range map[string]string{"here": c.dir, "gone": c.dir, "elsewhere": other} {
		r, err := worktrees.RepositoryAt(repo)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(c.user, name)
		c.git("-C", repo, "worktree", "add", "-q", dir)
		if err := r.Note(context.Background(), c.local.Home, worktrees.Place{Name: name, Dir: dir, Why: "why"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(c.user, "gone", ".git")); err != nil {
		t.Fatal(err)
	}
	s, err := c.local.Status(context.Background(), missions.StatusRequest{Caller: c.caller()})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, p := range s.Problems {
		if strings.Contains(p.Message, "a plain one of Git") {
			said = append(said, p.Message)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "the worktree here in") {
		t.Errorf("%q", said)
	}
}

// TestWorktreeOfASubdirectory: the agent takes none but the top of one.
func TestWorktreeOfASubdirectory(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.write("sub/b.txt", "b\n")
	c.dir = filepath.Join(c.dir, "sub")
	r := missions.NewMissionRequest{Caller: c.caller(), Name: "part", Workspace: c.dir, Command: []string{"sh"}}
	if m, err := c.local.NewMission(context.Background(), r); err != nil || m.Workspace != c.dir {
		t.Fatal(m.Workspace, err)
	}
	dir := c.worktree("aside")
	if c.contentOf(filepath.Join(dir, "sub", "b.txt")) != "b\n" || c.worktree("aside") != dir {
		t.Errorf("it is in %s", dir)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err != nil {
		t.Error(err)
	}
	if r := worktreeRemoval(c, c.caller(), dir); r.Problem != "" {
		t.Error(r.Problem)
	}
}

func worktreeRemoval(c *talker, caller missions.Caller, dir string) missions.HookResult {
	c.Helper()
	r, err := c.local.Hook(context.Background(), missions.HookRequest{Caller: caller, Agent: "claude", Payload: []byte(
		`{"session_id":"` + c.session + `","cwd":"` + dir + `","hook_event_name":"WorktreeRemove","worktree_path":"` + dir + `"}`)})
	if err != nil {
		c.Fatal(err)
	}
	return r
}

// TestWorktreesAreCollected: an agent that ends without a word leaves no mission open, and
// no file that is in no snapshot.
func TestWorktreesAreCollected(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "delegate", "prompt_id": "p1"})
	dirs := []string{c.worktree("agent-a1"), c.worktree("agent-a2")}
	for _, dir := range dirs {
		if err := os.WriteFile(filepath.Join(dir, "late.txt"), []byte("late\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c.hook("SessionEnd", map[string]any{"reason": "other"})
	c.local.Workers.Wait()
	for _, name := range []string{"agent-a1", "agent-a2"} {
		m := c.missionsNow()[name]
		got, err := c.local.Cat(context.Background(), missions.CatRequest{Caller: c.caller(), Moment: name, Path: "late.txt"})
		if m.State != missions.StateClosed || err != nil || string(got) != "late\n" {
			t.Errorf("%s is %s, and its newest snapshot has %q, %v", name, m.State, got, err)
		}
	}
	c.healthy()
}

// TestWorktreeOfAHeadlessSession: the mission of a session without a terminal, which is one
// only when something changes, is one when it is forked.
func TestWorktreeOfAHeadlessSession(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.vars = map[string]string{"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "delegate", "prompt_id": "p1"})
	c.worktree("agent-a1")
	list := c.missionsNow()
	if fork := list["agent-a1"]; len(list) != 2 || fork.Parent == nil || !slices.ContainsFunc([]missions.Mission{list["delegate"]}, func(m missions.Mission) bool { return m.ID == fork.Parent.Mission }) {
		t.Errorf("missions: %+v", list)
	}
	c.healthy()
}
