package local

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// has reports whether the last snapshot of a mission has a file with that text.
func (b *testBench) has(mission, path, text string) bool {
	p, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: mission, Path: path})
	return err == nil && string(p) == text
}

// tell gives a mission an event.
func (b *testBench) tell(name string, e missions.Event) {
	b.Helper()
	m, err := b.local.FindMissionIn(b.project(), name)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := b.local.SubmitRequest(context.Background(), m.Project, m.ID, &snapshots.Request{Event: e}); err != nil {
		b.Fatal(err)
	}
}

// TestHintOfMany: a mission of which no snapshot can be taken takes none from the
// others.
func TestHintOfMany(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "1\n")
	for _, name := range []string{"one", "two"} {
		b.mission(name)
		b.tell(name, missions.AgentLaunched{HasHooks: true})
	}
	list, _, err := b.local.MissionsAt(b.dir, false)
	if err != nil || len(list) != 2 {
		t.Fatalf("%d missions: %v", len(list), err)
	}
	b.write("a.txt", "2\n")
	locked := filepath.Join(list[0].Project.ShadowRepo(), string(gitstore.AgentRef(list[0].ID))+".lock")
	if err := os.WriteFile(locked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := b.local.Hook(context.Background(), missions.HookRequest{Caller: b.caller(), Agent: "vim", Event: "save", Payload: []byte("a.txt")})
	if err != nil || r.Problem == "" || r.Mission != list[1].ID || !b.has(list[1].Name, "a.txt", "2\n") {
		t.Errorf("the first can't be written to: %+v %v", r, err)
	}
}

// TestHintAlone: where nobody serves, no mission that is closed costs its user a
// walk, and a save waits for no other process.
func TestHintAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "1\n")
	b.mission("work")
	hint := func(event string) missions.HookResult {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
		defer cancel()
		r, err := b.local.Hook(ctx, missions.HookRequest{Caller: b.caller(), Agent: "vim", Event: event, Payload: []byte("a.txt"), Alone: true})
		if err != nil || r.Problem != "" {
			t.Errorf("%s: %+v %v", event, r, err)
		}
		return r
	}
	b.write("a.txt", "2\n")
	if hint("save"); !b.has("work", "a.txt", "2\n") {
		t.Error("before its agent is there: no snapshot")
	}
	b.tell("work", missions.AgentLaunched{HasHooks: true})
	b.write("a.txt", "3\n")
	if hint("save"); !b.has("work", "a.txt", "3\n") {
		t.Error("beside its agent: no snapshot")
	}
	b.write("a.txt", "4\n")
	tree, err := lock.TryTree(b.home, b.dir, lock.Self("another umbra"))
	if err != nil {
		t.Fatal(err)
	}
	if r := hint("save"); r.Snapshot != "" {
		t.Errorf("where another process has the workspace: %+v", r)
	}
	if err := tree.Release(); err != nil {
		t.Fatal(err)
	}
	b.tell("work", missions.AgentExited{})
	b.write("a.txt", "5\n")
	if r := hint("save"); r.Snapshot != "" || b.has("work", "a.txt", "5\n") {
		t.Errorf("of a closed mission: %+v", r)
	}
	if b.hint("vim", "save", "a.txt"); !b.has("work", "a.txt", "5\n") {
		t.Error("of a closed mission, where somebody serves: no snapshot")
	}
}
