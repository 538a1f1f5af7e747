package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/client"
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
	hook := benchHook(b, t, c)
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

// benchHook tells of the events of one session.
func benchHook(b *testing.B, t *bench, c *client.Client) func(event string, fields map[string]any) string {
	const session = "11111111-1111-4111-8111-111111111111"
	return func(event string, fields map[string]any) string {
		b.Helper()
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
}

// BenchmarkRestore puts back what one turn changed, with the snapshots before
// and after: 10,000 files, the daemon warm (P7).
func BenchmarkRestore(b *testing.B) {
	for _, differ := range []int{1, 100} {
		b.Run(fmt.Sprint(differ), func(b *testing.B) {
			t := newBench(b)
			s := t.start(func(o *Options) { o.Tick = time.Second })
			c := t.connect()
			edit := func(files, version int) {
				for i := range files {
					t.write(fmt.Sprintf("d%d/f%d.txt", i%500, i), fmt.Sprintf("%d of file %d\n%08000d\n", version, i, i))
				}
			}
			edit(10_000, -1)
			hook := benchHook(b, t, c)
			hook("SessionStart", map[string]any{"source": "startup"})
			prompt := func(id string) string {
				return hook("UserPromptSubmit", map[string]any{"prompt": "work", "prompt_id": id})
			}
			prompt("p")
			t.until("watched", func() bool { return t.watched(s) })
			edit(differ, -2)
			hook("Stop", nil)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				before := prompt(fmt.Sprint("p", n))
				edit(differ, n)
				hook("Stop", nil)
				b.StartTimer()
				r, err := c.Restore(t.ctx(), missions.RestoreRequest{Caller: t.caller(), Moment: before, FilesOnly: true})
				must(b, err)
				if len(r.Modify) != differ || !r.Done {
					b.Fatalf("%+v", r)
				}
			}
		})
	}
}

// BenchmarkLog lists a mission of 1,000 snapshots: by a process that has listed it
// before, and by one that has just begun and knows nothing (P11).
func BenchmarkLog(b *testing.B) {
	t := newBench(b)
	first := t.start()
	c := t.connect()
	for i := range 1000 {
		t.write(fmt.Sprintf("d%d/f%d.txt", i/400, i), fmt.Sprintf("file %d\n", i))
	}
	t.mission(c, "work")
	caller := t.caller()
	for n := range 1000 {
		t.write(fmt.Sprintf("d%d/f%d.txt", n/400, n), fmt.Sprintf("%d\n", n))
		_, err := c.Snapshot(context.Background(), missions.SnapshotRequest{Caller: caller})
		must(b, err)
	}
	list := func(b *testing.B, svc missions.Service) {
		b.Helper()
		entries, err := svc.Log(context.Background(), missions.LogRequest{Caller: caller, Lines: true})
		must(b, err)
		if len(entries) != 1001 {
			b.Fatalf("%d entries", len(entries))
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			must(b, first.index.Reset())
			b.StartTimer()
			list(b, c)
		}
	})
	list(b, c)
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			list(b, c)
		}
	})
	b.Run("here", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			list(b, first.Service())
		}
	})
}
