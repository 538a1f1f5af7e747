package missions

import (
	"context"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

// TestLateEvents: hooks outlive their agent, and what one of them says after the
// keeper has told the agent's end revives nobody. One of another process does.
func TestLateEvents(t *testing.T) {
	k := newKeptAgent(t)
	before, err := k.local.missionByID(k.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-k.ended
	if next := k.end(); next.Do != DoExit {
		t.Fatalf("at the end: %+v", next)
	}
	say := func(pid int, event, fields string) Mission {
		t.Helper()
		k.sendFrom(pid, event, fields)
		return k.only()
	}
	for event, fields := range map[string]string{
		"SessionStart":     `,"source":"resume"`,
		"UserPromptSubmit": `,"prompt":"third","prompt_id":"p3"`,
		"PreToolUse":       `,"tool_name":"Bash","tool_use_id":"t9","tool_input":{"command":"true"}`,
		"Notification":     `,"notification_type":"permission_prompt","message":"may it?"`,
		"Stop":             "",
		"SessionEnd":       `,"reason":"other"`,
	} {
		if m := say(k.agent.Process.Pid, event, fields); m.State != StateClosed || m.PID != 0 || m.Turn != 2 {
			t.Errorf("a late %s makes it %s of turn %d, pid %d", event, m.State, m.Turn, m.PID)
		}
	}
	k.healthy()

	// Doctor has read the mission before its agent ended, and its keeper, and looks
	// at it now.
	before.live.Keeper = nil
	d := &examination{l: k.local, chunks: map[gitstore.ID]int64{}, inherited: map[inheritance]bool{}}
	if err := d.mission(context.Background(), before); err != nil || len(d.result.Problems) != 0 {
		t.Errorf("doctor finds %+v, %v", d.result.Problems, err)
	}

	if m := say(os.Getppid(), "SessionStart", `,"source":"resume"`); m.State != StateIdle || m.PID != os.Getppid() {
		t.Errorf("resumed by hand it is %s, pid %d", m.State, m.PID)
	}
}

// TestLateStart: a keeper may tell of the start of its agent after the agent has
// been heard, or twice. A turn that has begun since goes on, and only such a one.
func TestLateStart(t *testing.T) {
	k := newKeptAgent(t)
	again := func() Launch {
		t.Helper()
		if err := k.agent.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-k.ended
		launch, err := k.local.Launch(context.Background(), LaunchRequest{Caller: k.keeper(), Mission: k.id, KeeperID: os.Getpid(), Resume: true})
		if err != nil {
			t.Fatal(err)
		}
		return launch
	}
	launch := again()
	k.hook("SessionStart", map[string]any{"source": "resume"})
	k.hook("UserPromptSubmit", map[string]any{"prompt": "third", "prompt_id": "p3"})
	k.begin(launch)
	if m := k.only(); m.State != StateRunning || m.Turn != 3 {
		t.Errorf("after its prompt the start makes it %s of turn %d", m.State, m.Turn)
	}
	k.started()
	k.hook("PreToolUse", map[string]any{"tool_name": "Bash", "tool_use_id": "t9", "tool_input": map[string]any{"command": "true"}})
	if m := k.only(); m.State != StateRunning || m.Turn != 3 {
		t.Errorf("told twice the start makes it %s of turn %d", m.State, m.Turn)
	}
	k.begin(again())
	if m := k.only(); m.State != StateIdle || m.Turn != 3 {
		t.Errorf("after a turn that was cut off the start makes it %s of turn %d", m.State, m.Turn)
	}
}
