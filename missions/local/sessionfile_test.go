package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestSessionNamedByAgent: an agent that names its file by the time, and whose
// hooks are not installed, is resumed on that file, which its snapshots hold.
func TestSessionNamedByAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "one\n")
	m, err := b.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: b.caller(), Name: "g", Command: []string{"gemini"}})
	if err != nil {
		t.Fatal(err)
	}
	launch := func() missions.Launch {
		t.Helper()
		caller := b.caller()
		caller.Binary = "/usr/local/bin/umbra"
		l, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: caller, Mission: m.ID})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := launch()
	id := first.Mission.SessionID
	if strings.Join(first.Argv, " ") != "gemini --session-id "+id || len(first.Notes) != 1 || !strings.Contains(first.Notes[0], "umbra hooks install gemini") {
		t.Fatalf("launched %q, %q", first.Argv, first.Notes)
	}
	named := filepath.Join(filepath.Dir(first.Mission.SessionPath), "session-2026-11-21T01-30-"+id[:8]+".jsonl")
	const said = `{"id":"p1","type":"user","content":[{"text":"one"}]}` + "\n" + `{"id":"a1","type":"gemini","content":"done"}` + "\n"
	if err := os.MkdirAll(filepath.Dir(named), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(named, []byte(`{"sessionId":"`+id+`","projectHash":"x"}`+"\n"+said), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := b.snapshot("done"); e.Events != 3 {
		t.Errorf("the snapshot's conversation has %d events", e.Events)
	}
	if again := launch(); strings.Join(again.Argv, " ") != "gemini --resume "+id || again.Mission.SessionPath != named {
		t.Errorf("launched again %q on %s", again.Argv, again.Mission.SessionPath)
	}
}
