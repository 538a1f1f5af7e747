package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// agent starts a process as the mission's agent. It ends with the test.
func (b *bench) agent(svc missions.Service, m missions.Mission) *exec.Cmd {
	b.Helper()
	launch, err := svc.Launch(b.ctx(), missions.LaunchRequest{Caller: b.caller(), Mission: m.ID})
	must(b, err)
	cmd := exec.Command("sleep", "6000")
	must(b, cmd.Start())
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	_, err = svc.Keep(b.ctx(), missions.KeepRequest{Mission: m.ID, Launch: launch.ID, KeeperPID: cmd.Process.Pid, AgentPID: cmd.Process.Pid})
	must(b, err)
	return cmd
}

func (b *bench) state(svc missions.Service, m missions.Mission) missions.Mission {
	b.Helper()
	now, err := svc.Mission(b.ctx(), missions.MissionRequest{Caller: b.caller(), Name: m.ID})
	must(b, err)
	return now
}

func (b *bench) watched(s *Server) bool { return s.watch.tree(b.work) != nil }

// TestIdleWithoutHooks finds the idle points of a command that tells nothing: by
// its workspace alone.
func TestIdleWithoutHooks(t *testing.T) {
	b := newBench(t)
	s := b.start()
	c := b.connect()
	b.write("a.txt", "one\n")
	m := b.mission(c, "work")
	b.agent(c, m)
	idle := func() bool { return b.state(c, m).State == missions.StateIdle }
	b.until("idle though nothing ever changes", idle)
	before := b.state(c, m).Head
	b.write("../two.txt", "two\n")
	must(t, os.Rename(filepath.Join(b.user, "two.txt"), filepath.Join(b.work, "a.txt"))) // in one step: half of it would be a state of its own
	b.until("a snapshot at the idle point", func() bool { now := b.state(c, m); return now.Head != before && idle() })
	got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "a.txt"})
	if err != nil || string(got) != "two\n" {
		t.Errorf("the snapshot holds %q, %v", got, err)
	}
	b.until("rest", func() bool { return !s.watch.tree(b.work).Busy() })
	settled := b.state(c, m).Head
	for range 3 {
		must(t, s.local.Observe(b.ctx(), b.work, missions.SawQuiet))
	}
	if now := b.state(c, m); now.Head != settled || now.State != missions.StateIdle {
		t.Errorf("a snapshot while nothing happens: %s after %s, %s", now.Head, settled, now.State)
	}
}

// TestLostAgent closes a mission whose agent is gone without a word, and stops
// watching.
func TestLostAgent(t *testing.T) {
	b := newBench(t)
	s := b.start()
	c := b.connect()
	m := b.mission(c, "work")
	agent := b.agent(c, m)
	b.until("watched", func() bool { return b.watched(s) })
	must(t, agent.Process.Kill())
	_ = agent.Wait()
	b.until("closed", func() bool { now := b.state(c, m); return now.CloseReason == missions.CloseReasonLost })
	b.until("not watched any more", func() bool { return !b.watched(s) })
}

// TestWatchesWhatIsNotIgnored keeps off ignored directories (H27), and takes
// snapshots from the dirty set.
func TestWatchesWhatIsNotIgnored(t *testing.T) {
	b := newBench(t)
	s := b.start()
	c := b.connect()
	b.write(".gitignore", "node_modules\n")
	for i := range 30 {
		b.write(fmt.Sprintf("node_modules/p%d/index.js", i), "x\n")
	}
	b.write("src/a.txt", "one\n")
	_, err := exec.Command("git", "-C", b.work, "init", "-q").CombinedOutput()
	must(t, err)
	m := b.mission(c, "work")
	b.agent(c, m)
	b.until("watched", func() bool { return b.watched(s) })
	if n := s.watch.stats().Watches; n > 20 {
		t.Errorf("%d watches", n)
	}
	snapshot := func() {
		t.Helper()
		_, err := c.Snapshot(b.ctx(), missions.SnapshotRequest{Caller: b.caller()})
		must(t, err)
	}
	snapshot()
	snapshot()
	b.until("the next snapshot need not walk", func() bool {
		if d := s.watch.Take(b.ctx(), b.work); !d.Full {
			s.watch.Return(b.work, d)
			return true
		}
		snapshot() // what was taken is lost: only a walk helps
		return false
	})
	for i := range 6 {
		b.write("src/a.txt", fmt.Sprintf("%d\n", i))
		b.write(fmt.Sprintf("src/new%d/b.txt", i), "new\n")
		snapshot()
		got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "src/a.txt"})
		if err != nil || string(got) != fmt.Sprintf("%d\n", i) {
			t.Fatalf("snapshot %d holds %q, %v", i, got, err)
		}
		if _, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: fmt.Sprintf("src/new%d/b.txt", i)}); err != nil {
			t.Fatalf("snapshot %d: %v", i, err)
		}
	}
	// What was ignored is seen from the moment that it is not.
	b.write(".gitignore", "")
	snapshot()
	b.write("node_modules/p1/index.js", "y\n")
	snapshot()
	got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "node_modules/p1/index.js"})
	if err != nil || string(got) != "y\n" {
		t.Errorf("no longer ignored: %q, %v", got, err)
	}
}

// TestWatchesAfterRestart watches a mission that was live before the daemon was.
func TestWatchesAfterRestart(t *testing.T) {
	b := newBench(t)
	first := b.start()
	c := b.connect()
	b.write("a.txt", "one\n")
	m := b.mission(c, "work")
	b.agent(c, m)
	must(t, first.Close())
	second := b.start()
	b.until("watched", func() bool { return b.watched(second) })
	b.write("a.txt", "two\n")
	b.until("the change is in a snapshot", func() bool {
		got, err := c.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "a.txt"})
		return err == nil && string(got) == "two\n"
	})
}

// TestInterruptedTurn finds the end of a turn that no hook tells, by the
// session file at rest.
func TestInterruptedTurn(t *testing.T) {
	b := newBench(t)
	b.start()
	c := b.connect()
	const id = "11111111-1111-4111-8111-111111111111"
	transcript := filepath.Join(b.user, id+".jsonl")
	hook := func(event string, fields map[string]any) missions.HookResult {
		t.Helper()
		all := map[string]any{"session_id": id, "cwd": b.work, "hook_event_name": event, "transcript_path": transcript}
		for k, v := range fields {
			all[k] = v
		}
		payload, err := json.Marshal(all)
		must(t, err)
		r, err := c.Hook(b.ctx(), missions.HookRequest{Caller: b.caller(), Agent: "claude", Payload: payload})
		if err != nil || r.Problem != "" {
			t.Fatalf("%s: %v %s", event, err, r.Problem)
		}
		return r
	}
	b.write("a.txt", "one\n")
	mission := hook("SessionStart", map[string]any{"source": "startup"}).Mission
	hook("UserPromptSubmit", map[string]any{"prompt": "work", "prompt_id": "p1"})
	line := func(kind, uuid, parent, content string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%q,"timestamp":"2999-01-01T00:00:00.000Z","cwd":%q,"sessionId":%q,"version":"2.1.329","message":{"role":%q,"content":%s}}`,
			parent, kind, uuid, b.work, id, kind, content)
	}
	lines := strings.Join([]string{
		line("user", "00000000-0000-4000-8000-000000000001", "null", `"work"`),
		line("assistant", "00000000-0000-4000-8000-000000000002", `"00000000-0000-4000-8000-000000000001"`, `[{"type":"text","text":"I beg"}]`),
		line("user", "00000000-0000-4000-8000-000000000003", `"00000000-0000-4000-8000-000000000002"`, `[{"type":"text","text":"[Request interrupted by user]"}]`),
	}, "\n") + "\n"
	must(t, os.WriteFile(transcript, []byte(lines), 0o600))
	b.until("the turn is over", func() bool {
		m, err := c.Mission(b.ctx(), missions.MissionRequest{Caller: b.caller(), Name: mission})
		must(t, err)
		return m.State == missions.StateIdle
	})
}
