package local

import (
	"context"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// TestReadersDoNotWait reads a mission, and works in another project, while its
// workspace is held by somebody who writes (H26).
func TestReadersDoNotWait(t *testing.T) {
	t.Parallel()
	hazards.Held(t, hazards.H27, "what is read is read without a lock, while a writer is at work")
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	elsewhere := b.caller()
	elsewhere.Cwd = t.TempDir()
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	defer cancel()
	if _, err := b.local.NewMission(ctx, missions.NewMissionRequest{Caller: elsewhere, Name: "apart", Command: []string{"sh"}}); err != nil {
		t.Fatal(err)
	}
	own, err := b.local.MissionByID(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	held, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- b.local.WithWorkspaceLock(ctx, own, func(*projects.Mission) error {
			close(held)
			<-release
			return nil
		})
	}()
	<-held
	for name, ask := range map[string]func() error{
		"missions": func() error {
			_, err := b.local.Missions(ctx, missions.MissionsRequest{Caller: b.caller()})
			return err
		},
		"mission": func() error {
			_, err := b.local.Mission(ctx, missions.MissionRequest{Caller: b.caller(), Name: m.ID})
			return err
		},
		"log": func() error { _, err := b.local.Log(ctx, missions.LogRequest{Caller: b.caller()}); return err },
		"show": func() error {
			_, err := b.local.Show(ctx, missions.ShowRequest{Caller: b.caller(), Moment: "work"})
			return err
		},
		"status": func() error { _, err := b.local.Status(ctx, missions.StatusRequest{Caller: b.caller()}); return err },
		"cat": func() error {
			_, err := b.local.Cat(ctx, missions.CatRequest{Caller: b.caller(), Moment: "work", Path: "a.txt"})
			return err
		},
		"another project's snapshot": func() error {
			_, err := b.local.Snapshot(ctx, missions.SnapshotRequest{Caller: elsewhere})
			return err
		},
	} {
		if err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
