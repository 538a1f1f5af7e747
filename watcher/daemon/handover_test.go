package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// sleeper starts a process that does nothing, and whose end is noticed.
func (b *bench) sleeper() (cmd *exec.Cmd, ended chan struct{}) {
	b.Helper()
	cmd, ended = exec.Command("sleep", "6000"), make(chan struct{})
	must(b, cmd.Start())
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	b.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	return cmd, ended
}

// claudeTurn is a turn of an agent, with its conversation, that leaves a.txt with
// some content.
func (b *bench) claudeTurn(svc missions.Service, m missions.Mission, n int, content string) {
	b.Helper()
	hook := func(event string, fields map[string]any) {
		payload := map[string]any{"session_id": m.SessionID, "transcript_path": m.SessionPath, "cwd": b.work, "hook_event_name": event}
		for k, v := range fields {
			payload[k] = v
		}
		raw, err := json.Marshal(payload)
		must(b, err)
		caller := b.caller()
		caller.Mission = m.ID
		r, err := svc.Hook(b.ctx(), missions.HookRequest{Caller: caller, Agent: "claude", Payload: raw})
		if err != nil || r.Problem != "" {
			b.Fatalf("%s: %v %s", event, err, r.Problem)
		}
	}
	if n == 1 {
		hook("SessionStart", map[string]any{"source": "startup"})
	}
	id := fmt.Sprintf("0000000%d-0000-4000-8000-00000000000", n)
	hook("UserPromptSubmit", map[string]any{"prompt": content, "prompt_id": id + "9"})
	b.write("a.txt", content)
	must(b, os.MkdirAll(filepath.Dir(m.SessionPath), 0o700))
	f, err := os.OpenFile(m.SessionPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must(b, err)
	for _, said := range [][3]string{{"user", id + "1", fmt.Sprintf("%q", content)}, {"assistant", id + "2", `[{"type":"text","text":"done"}]`}} {
		_, err := fmt.Fprintf(f, `{"isSidechain":false,"type":%q,"uuid":%q,"cwd":%q,"sessionId":%q,"version":"2.1.329","message":{"role":%q,"content":%s}}`+"\n", said[0], said[1], b.work, m.SessionID, said[0], said[2])
		must(b, err)
	}
	must(b, f.Close())
	hook("Stop", map[string]any{"prompt_id": id + "9", "last_assistant_message": "done"})
}

// TestLeavesWhoAwaitsAKeeper: a restore has ended an agent, whose keeper does not
// launch it again. The daemon that is to stop answers the restore instead of cutting
// it off when its patience is over: that keeper asks whoever serves next.
func TestLeavesWhoAwaitsAKeeper(t *testing.T) {
	b := newBench(t)
	s := b.start()
	c := b.connect()
	b.write("a.txt", "zero\n")
	m, err := c.NewMission(b.ctx(), missions.NewMissionRequest{Caller: b.caller(), Name: "live", Command: []string{"claude"}})
	must(t, err)
	keeper, _ := b.sleeper()
	agent, ended := b.sleeper()
	launch, err := c.Launch(b.ctx(), missions.LaunchRequest{Caller: b.caller(), Mission: m.ID, KeeperPID: keeper.Process.Pid})
	must(t, err)
	_, err = c.Keep(b.ctx(), missions.KeepRequest{Mission: m.ID, Launch: launch.ID, KeeperPID: keeper.Process.Pid, AgentPID: agent.Process.Pid})
	must(t, err)
	b.claudeTurn(c, launch.Mission, 1, "one\n")
	b.claudeTurn(c, launch.Mission, 2, "two\n")
	type answer struct {
		missions.RestoreResult
		err error
	}
	restored := make(chan answer, 1)
	go func() {
		r, err := c.Restore(b.ctx(), missions.RestoreRequest{Caller: b.caller(), Moment: "live@1"})
		restored <- answer{r, err}
	}()
	<-ended
	b.until("the restore waits for the keeper", func() bool {
		got, err := os.ReadFile(filepath.Join(b.work, "a.txt"))
		return err == nil && string(got) == "one\n" && b.state(c, m).PendingAction == ""
	})
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if got := <-restored; got.err != nil || !got.Done {
		t.Errorf("the restore: %+v, %v", got.RestoreResult, got.err)
	}
}
