package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// speaker plays one of many agents: each has a file of its own, which it writes
// in every turn.
type speaker struct {
	*bench
	number     int
	work, file string
	session    string
	mission    string
}

func (b *bench) speaker(n, workspaces int) *speaker {
	s := &speaker{bench: b, number: n, file: fmt.Sprintf("file-%d.txt", n), session: fmt.Sprintf("%08d-1111-4111-8111-111111111111", n)}
	s.work = filepath.Join(b.user, fmt.Sprintf("work-%d", n%workspaces))
	must(b, os.MkdirAll(s.work, 0o755))
	return s
}

// hook hands an event in over a connection of its own, as a hook's process does.
func (s *speaker) hook(event string, fields map[string]any) error {
	payload := map[string]any{"session_id": s.session, "cwd": s.work, "hook_event_name": event, "transcript_path": filepath.Join(s.user, s.session+".jsonl")}
	for k, v := range fields {
		payload[k] = v
	}
	p, err := json.Marshal(payload)
	if err != nil {
		return err
	}
	caller := s.caller()
	caller.Cwd = s.work
	caller.Env["CLAUDE_PID"] = strconv.Itoa(os.Getpid())
	r, err := client.Hook(s.ctx(), client.Options{Home: s.home, Version: "test", Patience: patience.Of(time.Minute)}, missions.HookRequest{Caller: caller, Agent: "claude", Payload: p})
	if err == nil && r.Problem != "" {
		err = fmt.Errorf("%s: %s", event, r.Problem)
	}
	s.mission = r.Mission
	return err
}

// turn is one turn: the prompt, a tool that writes the file, the end.
func (s *speaker) turn(n int) error {
	id := fmt.Sprintf("%s-%d", s.session, n)
	if err := s.hook("UserPromptSubmit", map[string]any{"prompt": fmt.Sprintf("turn %d", n), "prompt_id": id}); err != nil {
		return err
	}
	if err := s.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": id, "tool_input": map[string]any{"file_path": s.file}}); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.work, s.file), []byte(fmt.Sprint(n)), 0o644); err != nil {
		return err
	}
	return s.hook("Stop", map[string]any{"prompt_id": id})
}

// TestManyMissions runs many agents at once in a few workspaces, all active: each
// turn of each ends with what that agent had written by then.
func TestManyMissions(t *testing.T) {
	const agents, workspaces, turns = 50, 5, 3
	b := newBench(t)
	b.start()
	reader := b.connect()
	var all []*speaker
	for n := range agents {
		all = append(all, b.speaker(n, workspaces))
	}
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() {
			err := s.hook("SessionStart", map[string]any{"source": "startup"})
			for n := 1; n <= turns && err == nil; n++ {
				err = s.turn(n)
			}
			if err != nil {
				t.Errorf("agent %d: %v", s.number, err)
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for _, s := range all {
		m, err := reader.Mission(b.ctx(), missions.MissionRequest{Caller: b.caller(), Name: s.mission})
		must(t, err)
		if m.Turn != turns || m.State != missions.StateIdle || m.Workspace != s.work {
			t.Errorf("agent %d: turn %d, %s, in %s", s.number, m.Turn, m.State, m.Workspace)
		}
		for n := 1; n <= turns; n++ {
			got, err := reader.Cat(b.ctx(), missions.CatRequest{Caller: b.caller(), Moment: fmt.Sprintf("%s@%d", s.mission, n), Path: s.file})
			if err != nil || string(got) != fmt.Sprint(n) {
				t.Errorf("agent %d, turn %d ended with %q, %v", s.number, n, got, err)
			}
		}
	}
	// What was seen of the files may still be made a snapshot of.
	b.until("doctor finds nothing wrong", func() bool {
		found, err := reader.Doctor(b.ctx(), missions.DoctorRequest{Caller: b.caller()})
		must(t, err)
		return len(found.Problems) == 0
	})
}
