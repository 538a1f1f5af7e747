package missions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

// TestMovedHomeStaysMoved: whatever a process does whose home was moved away, in the
// middle of its work too, it makes nothing anew where the home was.
func TestMovedHomeStaysMoved(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	l, ctx, m := k.local, context.Background(), k.state()
	fork, err := l.Fork(ctx, ForkRequest{Caller: k.caller(), From: "live", Name: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	copied := fork.Missions[0].ID
	prompt := fmt.Sprintf(`{"session_id":%q,"hook_event_name":"UserPromptSubmit","cwd":%q}`, otherSession, k.dir)
	space := NewSpace(l.home, l.config.Storage, func(string) (uint64, error) { return 1 << 40, nil })
	if err := os.Rename(k.home, k.home+".moved"); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(){
		"note a state":     func() { l.saveLive(m) },
		"take a snapshot":  func() { _, _ = l.Snapshot(ctx, SnapshotRequest{Caller: k.caller(), Mission: m.ID}) },
		"keep a request":   func() { _, _ = l.journal.Enqueue(m.ID, []byte("{}")) },
		"begin":            func() { _, _ = l.journal.Begin(l.newID(), "restore", struct{}{}) },
		"lock":             func() { _ = l.holding(ctx, m, func(*loaded) error { return nil }) },
		"make its project": func() { _, _ = l.ensureProject(ctx, ground{Dir: k.dir, Top: k.dir}) },
		"hear of an agent": func() { _, _ = l.Hook(ctx, HookRequest{Caller: k.caller(), Agent: "claude", Payload: []byte(prompt)}) },
		"measure":          func() { _ = space.Measure() },
		"keep a setting":   func() { l.home.keepConfig([]byte("x: y\n")) },
		"publish":          func() { _ = l.home.PublishSocket("/run/s") },
		"observe":          func() { _ = l.Observe(ctx, k.dir, SawQuiet) },
		"look for lost":    func() { _ = l.ReapLost(ctx) },
		"take up":          func() { _ = l.TakeUp(ctx) },
		"recover":          func() { _ = l.Recover(ctx) },
		"sweep":            func() { _ = l.Sweep(ctx) },
		"house":            func() { _, _ = l.Housekeep(ctx, m.project.Dir) },
		"rest":             func() { l.Rest() },
		"remove":           func() { _, _ = l.Remove(ctx, RemoveRequest{Caller: k.caller(), Missions: []string{copied}}) },
		"make a project":   func() { _ = l.makeProject(ctx, &project{ID: l.newID()}, k.dir) },
		"note a hint":      func() { _ = m.project.saveHints() },
	} {
		do()
		if _, err := os.Lstat(k.home); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("to %s makes it anew: %v", name, err)
			if err := os.RemoveAll(k.home); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Rename(k.home+".moved", k.home); err != nil {
		t.Fatal(err)
	}
	k.healthy()
}
