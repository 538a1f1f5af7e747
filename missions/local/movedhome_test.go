package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestMovedHomeStaysMoved: whatever a process does whose home was moved away, in the
// middle of its work too, it makes nothing anew where the home was.
func TestMovedHomeStaysMoved(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	l, ctx, m := k.local, context.Background(), k.state()
	fork, err := l.Fork(ctx, missions.ForkRequest{Caller: k.caller(), From: "live", Name: "copy"})
	if err != nil {
		t.Fatal(err)
	}
	copied := fork.Missions[0].ID
	prompt := fmt.Sprintf(`{"session_id":%q,"hook_event_name":"UserPromptSubmit","cwd":%q}`, otherSession, k.dir)
	space := home.NewSpace(l.Home, l.Config.Storage, func(string) (uint64, error) { return 1 << 40, nil })
	if err := os.Rename(k.home, k.home+".moved"); err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func(){
		"note a state":     func() { l.SaveLiveState(m) },
		"take a snapshot":  func() { _, _ = l.Snapshot(ctx, missions.SnapshotRequest{Caller: k.caller(), Mission: m.ID}) },
		"keep a request":   func() { _, _ = l.Journal.Enqueue(m.ID, []byte("{}")) },
		"begin":            func() { _, _ = l.Journal.Begin(l.NewID(), "restore", struct{}{}) },
		"lock":             func() { _ = l.WithWorkspaceLock(ctx, m, func(*projects.Mission) error { return nil }) },
		"make its project": func() { _, _ = l.FindOrCreateProject(ctx, projects.Directory{Dir: k.dir, Top: k.dir}) },
		"hear of an agent": func() {
			_, _ = l.Hook(ctx, missions.HookRequest{Caller: k.caller(), Agent: "claude", Payload: []byte(prompt)})
		},
		"measure":        func() { _ = space.Measure() },
		"keep a setting": func() { l.Home.SaveGoodConfig([]byte("x: y\n")) },
		"publish":        func() { _ = l.Home.PublishSocket("/run/s") },
		"observe":        func() { _ = l.Observe(ctx, k.dir, missions.SawQuiet) },
		"look for lost":  func() { _ = l.CloseLostMissions(ctx) },
		"take up":        func() { _ = l.ResumeHandovers(ctx) },
		"recover":        func() { _ = l.Recover(ctx) },
		"sweep":          func() { _ = l.Sweep(ctx) },
		"house":          func() { _, _ = l.Housekeep(ctx, m.Project.Dir) },
		"rest":           func() { l.SaveStatCaches() },
		"remove":         func() { _, _ = l.Remove(ctx, missions.RemoveRequest{Caller: k.caller(), Missions: []string{copied}}) },
		"make a project": func() { _ = l.WriteProject(ctx, &projects.Project{ID: l.NewID()}, k.dir) },
		"note a hint":    func() { _ = m.Project.SaveLocations() },
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
