package local

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// TestFirstWorktree: where no mission is known yet, the worktree that is asked for is a fork
// all the same, also for several who ask at once; not where the configuration leaves the
// repository out.
func TestFirstWorktree(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	const many = 4
	dirs := make([]string, many)
	var all sync.WaitGroup
	for i := range dirs {
		all.Go(func() { dirs[i] = c.worktree("aside" + strconv.Itoa(i)) })
	}
	all.Wait()
	list := c.missionsNow()
	if len(list) != many+1 {
		t.Fatalf("missions: %+v", list)
	}
	for i, dir := range dirs {
		for file, want := range map[string]string{".env": "SECRET=1\n", "a.txt": "changed\n", "new.txt": "new\n"} {
			if got := c.contentOf(filepath.Join(dir, file)); got != want {
				t.Errorf("%s has %s as %q, want %q", dir, file, got, want)
			}
		}
		fork := list["aside"+strconv.Itoa(i)]
		source, ok := list[filepath.Base(c.dir)]
		if !ok || fork.Parent == nil || fork.Parent.Mission != source.ID || source.Workspace != c.dir || source.Agent != "claude" {
			t.Errorf("%+v is no fork of %+v", fork, source)
		}
	}
	c.healthy()
}

// TestFirstWorktreeIsRefused where the configuration leaves the repository out, and makes
// nothing: the hook then has Git make one. A repository in a workspace is one of its own.
func TestFirstWorktreeIsRefused(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.write("nested/.keep", "")
	nested := filepath.Join(c.dir, "nested")
	c.git("init", "-q", nested)
	asked := func(dir string) missions.HookResult {
		r, err := c.local.Hook(context.Background(), missions.HookRequest{Caller: c.caller(), Agent: "claude", Payload: []byte(
			`{"session_id":"` + c.session + `","cwd":"` + dir + `","hook_event_name":"WorktreeCreate","name":"x"}`)})
		if err != nil {
			t.Error(err)
		}
		return r
	}
	c.local.Config.Adopt.Exclude = []string{c.dir, nested}
	for _, dir := range []string{c.dir, nested} {
		if r := asked(dir); len(r.Output) > 0 || !strings.Contains(r.Problem, "no mission is known of "+dir) || len(c.missionsNow()) > 0 {
			t.Errorf("where Umbra must not work: %q, %q, %+v", r.Output, r.Problem, c.missionsNow())
		}
	}
	c.local.Config.Adopt.Exclude = []string{filepath.Join(c.dir, "private")}
	c.write("private/.keep", "")
	if r := asked(filepath.Join(c.dir, "private")); len(r.Output) > 0 || len(c.missionsNow()) > 0 {
		t.Errorf("in a directory of it where Umbra must not work: %q, %q, %+v", r.Output, r.Problem, c.missionsNow())
	}
	c.local.Config.Adopt.Exclude = nil
	c.hook("SessionStart", map[string]any{"source": "startup"})
	if r := asked(nested); r.Problem != "" || c.contentOf(filepath.Join(strings.TrimSpace(string(r.Output)), ".keep")) != "" {
		t.Errorf("in a nested repository: %q, %q", r.Output, r.Problem)
	}
}

// TestWorktreeWhileAdopted is asked for while the first snapshot of its session is being taken,
// for longer than a hook waits: it is a fork of that session's mission, and of no second one.
func TestWorktreeWhileAdopted(t *testing.T) {
	t.Parallel()
	c := worktreeBench(t)
	c.local.Watching = servedBlind{}
	c.vars = map[string]string{"UMBRA_HOOKS_MAX_WAIT": "50ms"}
	held, err := lock.WaitTree(t.Context(), c.home, c.dir, lock.Self("a slow disk"))
	if err != nil {
		t.Fatal(err)
	}
	if r := c.hook("SessionStart", map[string]any{"source": "startup"}); r.Mission != "" {
		t.Fatalf("it is a mission already: %+v", r)
	}
	made := make(chan string)
	go func() { made <- c.worktree("aside") }()
	select {
	case dir := <-made:
		t.Errorf("it was made before the mission was: %q", dir)
		return
	case <-time.After(200 * time.Millisecond): // more than a hook waits; less passes too
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	dir := <-made
	list := c.missionsNow()
	fork := list["aside"]
	if len(list) != 2 || fork.Workspace != dir || fork.Parent == nil {
		t.Fatalf("missions: %+v", list)
	}
	for name, m := range list {
		if name != "aside" && (m.ID != fork.Parent.Mission || m.SessionID != c.session) {
			t.Errorf("%+v is no fork of the session's mission %+v", fork, m)
		}
	}
	c.healthy()
}
