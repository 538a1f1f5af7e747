package local

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// startAgent starts a process that calls itself claude and has a shell beneath
// it, as a hook has, and returns both.
func startAgent(t *testing.T) (agent *exec.Cmd, hook int) {
	t.Helper()
	cmd := exec.Command("/bin/sh")
	cmd.Args = []string{"/opt/bin/claude", "-c", `/bin/sh -c 'sh -c "echo \$\$; read gone"; :'; :`}
	return cmd, startAbove(t, cmd)
}

// startAbove starts a process that says the pid of one beneath it, and returns that.
func startAbove(t *testing.T, cmd *exec.Cmd) (hook int) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if hook, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	return hook
}

// TestAgentAbove finds the agent that a hook runs beneath.
func TestAgentAbove(t *testing.T) {
	t.Parallel()
	agent, hook := startAgent(t)
	for what, got := range map[string]int{
		"from the hook":      presence.FindAgentProcess("claude", missions.Caller{}, hook) - agent.Process.Pid,
		"from the agent":     presence.FindAgentProcess("claude", missions.Caller{}, agent.Process.Pid) - agent.Process.Pid,
		"it says it itself":  presence.FindAgentProcess("claude", missions.Caller{Env: map[string]string{"CLAUDE_PID": "7"}}, hook),
		"of another agent":   presence.FindAgentProcess("codex", missions.Caller{}, hook),
		"above no process":   presence.FindAgentProcess("claude", missions.Caller{}, 0),
		"above the system's": presence.FindAgentProcess("claude", missions.Caller{}, 1),
		"above one gone":     presence.FindAgentProcess("claude", missions.Caller{}, 4194305),
	} {
		if got != 0 {
			t.Errorf("%s: %d", what, got)
		}
	}
}

// TestServerAbove: the server that Codex keeps in the background is no agent, though the
// file that it runs is Codex's, and neither is the Codex that has started it: it has the
// conversations of others too.
func TestServerAbove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shell, err := os.ReadFile("/bin/sh")
	program := filepath.Join(dir, "codex")
	err = errorsOf(err, os.WriteFile(program, shell, 0o755),
		os.WriteFile(filepath.Join(dir, "exec"), []byte("sh -c 'echo $$; read gone; :'; :\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "app-server"), []byte("sh ./exec; :\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "chat"), []byte("./codex app-server --listen unix://; :\n"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"codex", "started-as"} {
		for word, agent := range map[string]bool{"exec": true, "app-server": false, "chat": false} {
			cmd := exec.Command(program)
			cmd.Args, cmd.Dir = []string{name, word}, dir
			hook, want := startAbove(t, cmd), 0
			if agent {
				want = cmd.Process.Pid
			}
			if got := presence.FindAgentProcess("codex", missions.Caller{}, hook); got != want {
				t.Errorf("%s %s: process %d, want %d", name, word, got, want)
			}
		}
	}
}

// sendFrom sends one event of an old Claude Code: it names no process.
func (c *talker) sendFrom(pid int, event, fields string) {
	c.Helper()
	payload := `{"session_id":"` + c.session + `","transcript_path":"` + c.transcript + `","cwd":"` + c.dir + `","hook_event_name":"` + event + `"` + fields + `}`
	r, err := c.local.Hook(context.Background(), missions.HookRequest{Caller: c.caller(), Agent: "claude", Payload: []byte(payload), AgentPID: pid})
	if err != nil || r.Problem != "" {
		c.Fatalf("%s: %v %s", event, err, r.Problem)
	}
}

// TestKilledByHand closes the mission of a session that was started by hand and
// is killed in its turn, where its hooks do not name its process.
func TestKilledByHand(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	agent, hook := startAgent(t)
	c.sendFrom(presence.FindAgentProcess("claude", c.caller(), hook), "UserPromptSubmit", `,"prompt":"go"`)
	if m := c.only(); m.State != missions.StateRunning || m.PID != agent.Process.Pid {
		t.Fatalf("in its turn: %+v", m)
	}
	if err := agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	agent.Wait()
	if m := c.only(); m.State != missions.StateClosed || m.CloseReason != missions.CloseReasonLost {
		t.Errorf("killed: %+v", m)
	}
	c.healthy()
}

// TestUnknownAgent ends what nothing can be looked at of: by time, after a new
// start of the system, or by the user's word; and takes it back where it speaks.
func TestUnknownAgent(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T) (*talker, *time.Time) {
		c := startTalker(t)
		now := time.Now()
		began := now
		c.local.Clock = func() time.Time { return now }
		c.local.Uptime = func() time.Duration { return time.Hour + now.Sub(began) }
		c.sendFrom(0, "UserPromptSubmit", `,"prompt":"go"`)
		c.write("a.txt", "half\n")
		return c, &now
	}
	state := func(c *talker, want missions.StateName) {
		c.Helper()
		if m := c.only(); m.State != want || want == missions.StateClosed && m.CloseReason != missions.CloseReasonLost {
			c.Errorf("%s %s, want %s", m.State, m.CloseReason, want)
		}
	}
	t.Run("by time", func(t *testing.T) {
		c, now := start(t)
		*now = now.Add(presence.MaxSilenceInTurn - time.Minute)
		state(c, missions.StateRunning)
		c.put(c.transcript, "")
		if err := os.Chtimes(c.transcript, *now, *now); err != nil {
			t.Fatal(err)
		}
		*now = now.Add(2 * time.Minute)
		state(c, missions.StateRunning)
		*now = now.Add(presence.MaxSilenceInTurn)
		state(c, missions.StateClosed)
		c.sendFrom(0, "Stop", "")
		state(c, missions.StateIdle)
		*now = now.Add(presence.MaxSilenceIdle - time.Minute)
		state(c, missions.StateIdle)
		*now = now.Add(2 * time.Minute)
		state(c, missions.StateClosed)
		c.healthy()
	})
	t.Run("not by a clock that is set on", func(t *testing.T) {
		c, now := start(t)
		c.local.Uptime = func() time.Duration { return time.Hour + time.Minute }
		*now = now.Add(2 * presence.MaxSilenceInTurn)
		state(c, missions.StateRunning)
	})
	t.Run("another boot", func(t *testing.T) {
		c, _ := start(t)
		c.local.Self.Boot = "another"
		state(c, missions.StateClosed)
		c.healthy()
	})
	t.Run("the user's word", func(t *testing.T) {
		c, _ := start(t)
		other := c.testBench.mission("other")
		restore := func() error {
			_, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: other.Name + "@start", All: true})
			return err
		}
		stuck := c.companionOf(other.ID)
		err := restore()
		c.fails("in another's turn", err, missions.KindBusy)
		if hint := missions.AsError(err).Hint; !strings.Contains(hint, "umbra mission stop "+stuck+" --force") {
			t.Errorf("hint: %s", hint)
		}
		_, err = c.local.Stop(context.Background(), missions.StopRequest{Caller: c.caller(), Missions: []string{stuck}})
		c.fails("without a word", err, missions.KindFailed)
		if !strings.Contains(missions.AsError(err).Hint, "--force") {
			t.Errorf("hint: %s", missions.AsError(err).Hint)
		}
		list, err := c.local.Stop(context.Background(), missions.StopRequest{Caller: c.caller(), Missions: []string{stuck}, Force: true})
		if err != nil || len(list) != 1 || list[0].State != missions.StateClosed || list[0].CloseReason != missions.CloseReasonLost {
			t.Errorf("stopped: %+v %v", list, err)
		}
		if err := restore(); err != nil {
			t.Error(err)
		}
		c.healthy()
	})
}

// TestUnknownAgentGoesOn: an agent of an unknown process may have ended, so whoever goes
// on with a restored conversation is told of both.
func TestUnknownAgentGoesOn(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	goesOn := func() string {
		m, err := c.local.MissionByID(c.only().ID)
		if err != nil {
			t.Fatal(err)
		}
		return c.local.HandoverAdvice(m, &restores.Job{Conversation: &conversations.ConversationPlan{}}).Type
	}
	c.sendFrom(0, "UserPromptSubmit", `,"prompt":"go"`)
	resume := "umbra mission resume " + c.only().Name
	if got := goesOn(); got != "end claude if it still runs, then "+resume {
		t.Errorf("of an unknown process: %s", got)
	}
	c.sendFrom(0, "SessionEnd", `,"reason":"prompt_input_exit"`)
	if got := goesOn(); got != resume {
		t.Errorf("when it has ended: %s", got)
	}
}

// companionOf names the one of two missions that is not the one with the id.
func (b *testBench) companionOf(id string) string {
	b.Helper()
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil || len(list) != 2 {
		b.Fatalf("missions: %+v %v", list, err)
	}
	if list[0].ID == id {
		return list[1].Name
	}
	return list[0].Name
}
