package local

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/remotes"
)

// TestAutomaticPush: once the user has asked for it, what is new is pushed in idle moments,
// once; what keeps it from leaving is said, and tried again.
func TestAutomaticPush(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	clock := &clockwork{time.Now()}
	c.local.Clock = clock.time
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	mission := c.only()
	// idle is an idle moment: in how many projects something was started, and done.
	idle := func() (started int) {
		t.Helper()
		var dirs []string
		c.local.StartDaily(func(dir string) error {
			dirs = append(dirs, dir)
			return nil
		})
		for _, dir := range dirs {
			if _, err := c.local.HousekeepWhenQuiet(t.Context(), dir, time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		return len(dirs)
	}
	there := func() string {
		t.Helper()
		if c.remoteGit("for-each-ref") == "" {
			return ""
		}
		return c.remoteGit("for-each-ref", "--format=%(objectname)", "refs/umbra/*/agents/"+mission.ID)
	}
	says := func() missions.AutomaticPush {
		t.Helper()
		s, err := c.local.Status(t.Context(), missions.StatusRequest{Caller: c.caller()})
		if err != nil || len(s.Pushes) != 1 {
			t.Fatalf("status says %+v, %v", s.Pushes, err)
		}
		return s.Pushes[0]
	}
	push := func(auto missions.Automatic) {
		t.Helper()
		if _, err := c.local.Push(t.Context(), missions.PushRequest{Caller: c.caller(), Auto: auto}); err != nil {
			t.Fatal(err)
		}
	}
	tip := func() string {
		return strings.TrimSpace(c.git("--git-dir", mission.ShadowRepo, "rev-parse", "refs/agents/"+mission.ID))
	}

	if n := idle(); n != 0 || there() != "" {
		t.Fatalf("before anybody asked: %d started, %q is there", n, there())
	}
	push(missions.AutomaticOn)
	if there() != tip() || idle() != 0 {
		t.Error("it is not pushed when it is asked for, or due again at once")
	}
	c.takeTurn("second", "b.txt", "two\n")
	if n := idle(); n != 1 || there() != tip() {
		t.Errorf("after a turn: %d started, %s is there and not %s", n, there(), tip())
	}
	pruning, err := lock.Try(lock.PruningFile(c.local.Home.Dir, mission.ProjectID), lock.Exclusive, c.local.Self)
	if err != nil {
		t.Fatal(err)
	}
	c.takeTurn("beside a prune", "b.txt", "two and a half\n")
	if n := idle(); n != 1 || there() != tip() {
		t.Errorf("beside a prune: %d started, %s is there and not %s", n, there(), tip())
	}
	if err := pruning.Release(); err != nil {
		t.Fatal(err)
	}
	if s := says(); idle() != 0 || s.Remote != "office" || s.Problem != "" || !s.At.Equal(clock.now) {
		t.Errorf("it says %+v, or is due again", s)
	}

	// Out of reach: said, tried again after a while, and sent then.
	if err := os.Rename(c.url, c.url+"-away"); err != nil {
		t.Fatal(err)
	}
	c.takeTurn("third", "c.txt", "three\n")
	if n := idle(); n != 1 || !strings.Contains(says().Problem, "office can't be used") || idle() != 0 {
		t.Errorf("out of reach: %d started, it says %+v", n, says())
	}
	if err := os.Rename(c.url+"-away", c.url); err != nil {
		t.Fatal(err)
	}
	clock.now = clock.now.Add(remotes.RetryAfter)
	if n := idle(); n != 1 || there() != tip() || says().Problem != "" {
		t.Errorf("in reach again: %d started, it says %+v", n, says())
	}

	// A secret keeps all of it here, and is not looked for again until something is new.
	kept := there()
	c.takeTurn("fourth", "d.txt", "token ghp_"+drawn+"\n")
	if n := idle(); n != 1 || there() != kept || !strings.Contains(says().Problem, "looks like a secret") || idle() != 0 {
		t.Errorf("a secret: %d started, %s is there, it says %+v", n, there(), says())
	}

	// Without a daemon the next snapshot starts it; a copy of a home pushes nothing.
	var apart []string
	c.local.StartHousekeeper = func(dir string) error {
		apart = append(apart, dir)
		return nil
	}
	c.write("e.txt", "more\n")
	if c.snapshot("no daemon"); len(apart) != 1 {
		t.Errorf("without a daemon: started for %v", apart)
	}
	c.local.StartHousekeeper = nil
	machine := c.local.Home.Machine
	c.local.Home.Machine = "another"
	if idle() != 0 {
		t.Error("a copy of the home pushes")
	}
	c.local.Home.Machine = machine

	push(missions.AutomaticOff)
	if n := idle(); n != 0 || there() != kept {
		t.Errorf("switched off: %d started", n)
	}
	c.healthy()
}

// TestAutomaticPushRefused: pushing by itself is not switched on by a push that failed; what
// the remote refuses is tried again after a while, and what no push can take is not.
func TestAutomaticPushRefused(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	clock := &clockwork{time.Now()}
	c.local.Clock = clock.time
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	mission := c.only()
	due := func() (n int) {
		c.local.StartDaily(func(string) error {
			n++
			return nil
		})
		return n
	}
	on := missions.PushRequest{Caller: c.caller(), Auto: missions.AutomaticOn}
	hook := c.url + "/hooks/pre-receive"
	git := c.url + "/HEAD"
	if err := os.Rename(git, git+"-away"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.local.Push(t.Context(), on); err == nil || due() != 0 {
		t.Errorf("a push that failed has switched it on: %v", err)
	}
	if err := os.Rename(git+"-away", git); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r, err := c.local.Push(t.Context(), on); err != nil || r.IsWhole() || due() != 0 {
		t.Fatalf("refused: %+v %v, or tried again at once", r, err)
	}
	clock.now = clock.now.Add(remotes.RetryAfter)
	if due() != 1 {
		t.Error("what was refused is not tried again")
	}
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	c.push()
	if due() != 0 {
		t.Error("it is due though all of it was taken")
	}

	// A ref of a mission that can't be read is no reason to push again and again.
	c.git("--git-dir", mission.ShadowRepo, "update-ref", "refs/agents/0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "refs/agents/"+mission.ID)
	if due() != 1 {
		t.Error("a new ref is not looked at")
	}
	c.push()
	if due() != 0 {
		t.Error("what can't be pushed is due again")
	}
}

// TestAutomaticPushHangs: a remote that does not answer is given up, said, and tried again.
func TestAutomaticPushHangs(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	clock := &clockwork{time.Now()}
	c.local.Clock = clock.time
	hangs, ssh := c.url+"-hangs", c.url+"-ssh"
	// What git has ssh run is its last word.
	script := "#!/bin/sh\n[ -e '" + hangs + "' ] && exec sleep 1000\nfor last; do :; done\nexec sh -c \"$last\"\n"
	if err := os.WriteFile(ssh, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	caller := c.caller()
	caller.Env["GIT_SSH_COMMAND"] = ssh
	add := missions.AddRemoteRequest{Caller: caller, Name: "far", URL: "host:" + c.url}
	if _, err := c.local.AddRemote(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	on := missions.PushRequest{Caller: caller, Remote: "far", Auto: missions.AutomaticOn}
	if _, err := c.local.Push(t.Context(), on); err != nil {
		t.Fatal(err)
	}
	problem := func() string {
		s, err := c.local.Status(t.Context(), missions.StatusRequest{Caller: c.caller()})
		if err != nil || len(s.Pushes) != 1 {
			t.Fatalf("status says %+v, %v", s.Pushes, err)
		}
		return s.Pushes[0].Problem
	}
	push := func() (started int) {
		c.local.StartDaily(func(dir string) error {
			started++
			_, err := c.local.HousekeepWhenQuiet(t.Context(), dir, time.Millisecond)
			return err
		})
		return started
	}
	c.put(hangs, "")
	c.takeTurn("second", "b.txt", "two\n")
	c.local.PushTime = 100 * time.Millisecond
	if n := push(); n != 1 || problem() != "the remote far has not taken it within 100ms" {
		t.Errorf("it hangs: %d started, it says %q", n, problem())
	}
	if err := os.Remove(hangs); err != nil {
		t.Fatal(err)
	}
	c.local.PushTime, clock.now = remotes.MostPushTime, clock.now.Add(remotes.RetryAfter)
	if n := push(); n != 1 || problem() != "" {
		t.Errorf("it answers: %d started, it says %q", n, problem())
	}
}
