package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestForkMovesPaths: in a fork's conversation, and in a prompt that is sent again, a path
// of the source's workspace is the fork's, also by ~ and behind @; what only looks like
// one stays. A secret of the prompt is sent again as the conversation has it.
func TestForkMovesPaths(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	rest, ok := strings.CutPrefix(c.dir, c.user+"/")
	if !ok {
		t.Fatalf("%s is not below %s", c.dir, c.user)
	}
	token := "ghp_" + drawn
	prompt := "look at ~/" + rest + "/a.txt, @" + c.dir + "/b.txt and host:" + c.dir + " with " + token
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn(prompt, "a.txt", "one\n")
	made, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), Workspace: filepath.Join(c.user, "forked"), Again: true})
	if err != nil {
		t.Fatal(err)
	}
	want := "look at ~/forked/a.txt, @" + made.Missions[0].Workspace + "/b.txt and host:" + c.dir + " with " + token
	said, err := os.ReadFile(made.Missions[0].SessionPath)
	if err != nil || !strings.Contains(string(said), want) {
		t.Errorf("its conversation says %s %v", said, err)
	}
	c.vars = nil
	launch, err := c.local.Launch(context.Background(), missions.LaunchRequest{Caller: c.caller(), Mission: made.Missions[0].Name, Resume: true, KeeperPID: os.Getpid()})
	if err != nil || launch.Argv[len(launch.Argv)-1] != want {
		t.Errorf("it is sent %q, not %q: %v", launch.Argv, want, err)
	}
	c.healthy()
}
