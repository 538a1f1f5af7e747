package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// BenchmarkHook measures the hook of a tool that writes, from the client's call to the
// acknowledged snapshot: 10,000 files, one changed, the daemon warm.
func BenchmarkHook(b *testing.B) {
	t := newBench(b)
	s := t.start(func(o *Options) { o.Tick = time.Second })
	c := t.connect()
	for i := range 10_000 {
		t.write(fmt.Sprintf("d%d/f%d.txt", i/20, i), fmt.Sprintf("file %d\n%0512d\n", i, i))
	}
	const session = "11111111-1111-4111-8111-111111111111"
	hook := func(event string, fields map[string]any) string {
		all := map[string]any{"session_id": session, "cwd": t.work, "hook_event_name": event, "transcript_path": filepath.Join(t.user, session+".jsonl")}
		maps.Copy(all, fields)
		payload, err := json.Marshal(all)
		must(b, err)
		r, err := c.Hook(t.ctx(), missions.HookRequest{Caller: t.caller(), Agent: "claude", Payload: payload})
		if err != nil || r.Problem != "" {
			b.Fatal(err, r.Problem)
		}
		return r.Snapshot
	}
	tool := func(id string) string {
		return hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": id, "tool_input": map[string]any{"file_path": "f"}})
	}
	hook("SessionStart", map[string]any{"source": "startup"})
	hook("UserPromptSubmit", map[string]any{"prompt": "work", "prompt_id": "p1"})
	t.until("watched", func() bool { return t.watched(s) })
	for n := range 5 {
		tool(fmt.Sprintf("warm%d", n))
	}
	last := ""
	var took []time.Duration
	for n := 0; b.Loop(); n++ {
		t.write("d250/f5000.txt", fmt.Sprintf("%d\n", n))
		began := time.Now()
		id := tool(fmt.Sprintf("tool%d", n))
		if id == "" || id == last {
			b.Fatalf("no new snapshot: %q after %q", id, last)
		}
		last = id
		took = append(took, time.Since(began))
	}
	sort.Slice(took, func(i, j int) bool { return took[i] < took[j] })
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
}
