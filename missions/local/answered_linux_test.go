package local

import (
	"context"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestCommandAnswers: an agent that runs a command which was begun after its question
// was answered, once that has run for five seconds. What ran before answers nothing.
func TestCommandAnswers(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	agent := exec.Command("/bin/sh", "-c", `setsid sleep 1000 & p=$!; echo; while read how; do $how sleep 1000 & p="$p $!"; done; kill $p`)
	in, err := agent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := agent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		in.Close()
		_ = agent.Wait()
	}()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	c.sendFrom(agent.Process.Pid, "UserPromptSubmit", `,"prompt":"go"`)
	const call = `,"tool_name":"Bash","tool_use_id":"t1","tool_input":{"command":"sleep 1000"}`
	c.sendFrom(agent.Process.Pid, "PreToolUse", call)
	c.sendFrom(agent.Process.Pid, "PermissionRequest", call)
	state := func(later time.Duration) missions.StateName {
		t.Helper()
		c.local.Clock = func() time.Time { return time.Now().Add(later) }
		c.local.Uptime = func() time.Duration { return lock.Uptime() + later }
		if err := c.local.ObserveWokenAgents(context.Background(), c.dir); err != nil {
			t.Fatal(err)
		}
		return c.only().State
	}
	if s := state(time.Minute); s != missions.StateWaiting {
		t.Errorf("with a process from before its question it is %s", s)
	}
	clock := c.local.Clock
	c.local.Clock = func() time.Time { return clock().Add(time.Hour) }
	if err := c.local.ObserveWokenAgents(context.Background(), c.dir); err != nil || c.only().State != missions.StateWaiting {
		t.Errorf("with a clock that was set it is %s (%v)", c.only().State, err)
	}
	if _, err := io.WriteString(in, "\n"); err != nil { // in the background, by one from before
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience.Of(time.Minute)); state(time.Minute) == missions.StateWaiting; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("its command answers nothing")
		}
		if _, err := io.WriteString(in, "setsid\n"); err != nil {
			t.Fatal(err)
		}
		if s := state(0); s != missions.StateWaiting {
			t.Fatalf("with a command that has just begun it is %s", s)
		}
	}
	if s := state(time.Minute); s != missions.StateRunning {
		t.Errorf("with its command it is %s", s)
	}
	c.healthy()
}
