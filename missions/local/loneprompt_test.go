package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestPromptTakenWithoutHooks: an agent whose hooks do not run has taken the prompt of its
// launch once it has told of the end of a turn, or has written to its conversation, which it
// may have named otherwise than Umbra expected. It is not sent the prompt again.
func TestPromptTakenWithoutHooks(t *testing.T) {
	t.Parallel()
	const prompt = "fix the login"
	for agent, c := range map[string]struct {
		command []string
		answers func(b *testBench, m *projects.Mission)
	}{
		"codex": {[]string{"codex", "exec"}, func(b *testBench, m *projects.Mission) {
			const id = "01a20240-aaaa-70f3-8cf7-6473b39ae7cc"
			path := filepath.Join(b.user, ".codex/sessions/2026/11/22/rollout-2026-11-22T07-55-01-"+id+".jsonl")
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"type":"session_meta","payload":{"id":"`+id+`"}}`+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			caller := b.caller()
			caller.Mission = m.ID
			turn := fmt.Sprintf(`{"type":"agent-turn-complete","thread-id":"%s","turn-id":"t1","cwd":"%s"}`, id, b.dir)
			if r, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: caller, Agent: "codex", Payload: []byte(turn)}); err != nil || r.Problem != "" {
				t.Fatal(err, r.Problem)
			}
		}},
		"gemini": {[]string{"gemini"}, func(b *testBench, m *projects.Mission) {
			chats := filepath.Dir(m.Binding.SessionPath)
			path := filepath.Join(chats, "session-2026-11-28T15-21-"+m.Stored.Session[:8]+".jsonl")
			if _, err := os.Stat(m.Binding.SessionPath); err == nil || path == m.Binding.SessionPath {
				t.Fatalf("its conversation is %s already", m.Binding.SessionPath)
			}
			if err := os.MkdirAll(chats, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(`{"sessionId":"`+m.Stored.Session+`","kind":"main"}`+"\n"+`{"id":"1","timestamp":"2026-11-28T15:21:00Z","type":"user","content":[{"text":"fix the login"}]}`+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			later := time.Now().Add(time.Second) // a file's clock is coarser than the launch's
			if err := os.Chtimes(path, later, later); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.local.Adapters = projects.Agents()
			ctx := context.Background()
			caller := b.caller()
			caller.Binary = "/usr/local/bin/umbra"
			m, err := b.local.NewMission(ctx, missions.NewMissionRequest{Caller: caller, Name: "c", Command: c.command, Launching: true})
			if err != nil {
				t.Fatal(err)
			}
			launch, err := b.local.Launch(ctx, missions.LaunchRequest{Caller: caller, Mission: m.ID, Headless: true, Prompt: prompt, KeeperPID: os.Getpid()})
			if err != nil {
				t.Fatal(err)
			}
			launched, err := b.local.MissionByID(m.ID)
			if err != nil {
				t.Fatal(err)
			}
			c.answers(b, launched)
			if _, err := b.local.Keep(ctx, missions.KeepRequest{Mission: m.ID, Launch: launch.ID, KeeperPID: os.Getpid(), Ended: true}); err != nil {
				t.Fatal(err)
			}
			ended, err := b.local.MissionByID(m.ID)
			if err != nil {
				t.Fatal(err)
			}
			if got := ended.WholeFirstPrompt(); got != "" {
				t.Errorf("%q is kept, to be sent again", got)
			}
		})
	}
}
