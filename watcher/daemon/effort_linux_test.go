package daemon

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestWorksWithoutWriting: a command that computes is not idle, however quiet its
// files are; what it has written meanwhile is kept all the same. It is idle as soon
// as it waits.
func TestWorksWithoutWriting(t *testing.T) {
	b := newBench(t)
	b.start()
	c := b.connect()
	m := b.mission(c, "work")
	launch, err := c.Launch(b.ctx(), missions.LaunchRequest{Caller: b.caller(), Mission: m.ID})
	must(t, err)
	enough := filepath.Join(b.user, "enough")
	cmd := exec.Command("sh", "-c", `while [ ! -e "$1" ]; do :; done; read x`, "sh", enough)
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	_, err = c.Keep(b.ctx(), missions.KeepRequest{Mission: m.ID, Launch: launch.ID, KeeperPID: cmd.Process.Pid, AgentPID: cmd.Process.Pid})
	must(t, err)
	b.write("a.txt", "one\n")
	b.until("what it has written is kept", func() bool {
		entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller()})
		must(t, err)
		return slices.ContainsFunc(entries, func(e missions.Entry) bool { return slices.Contains(e.Triggers, string(missions.TriggerWatch)) })
	})
	if now := b.state(c, m); now.State != missions.StateRunning {
		t.Errorf("a command that computes is %s", now.State)
	}
	must(t, os.WriteFile(enough, nil, 0o600))
	b.until("idle as it waits", func() bool { return b.state(c, m).State == missions.StateIdle })
}
