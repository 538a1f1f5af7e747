package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestForkIsDurable: the disk is waited for once, after all workspaces are
// written and before there is a mission; if it fails there is no fork.
func TestForkIsDurable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	calls, waited := 0, 0
	var failure error
	var places []string
	b.local.SyncForks = func(made []*fork.Made) (int, error) {
		calls++
		places = nil
		for _, m := range made {
			places = append(places, m.Workspace)
			if _, err := os.Stat(projects.AbsolutePath(m.Workspace, "a.txt")); err != nil {
				t.Errorf("synced before it was written: %v", err)
			}
		}
		if list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()}); err != nil || len(list) != 1 {
			t.Errorf("synced after it was published: %d missions, %v", len(list), err)
		}
		n, err := fork.Sync(made)
		waited += n
		return n, errors.Join(err, failure)
	}
	forks := func() error {
		_, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "more", Count: 3})
		return err
	}
	failure = errors.New("the disk is gone")
	if err := forks(); !errors.Is(err, failure) || missions.AsError(err).Hint == "" {
		t.Errorf("the disk fails: %v", err)
	}
	for _, place := range places {
		if _, err := os.Stat(place); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", place, err)
		}
	}
	failure, calls, waited = nil, 0, 0
	if err := forks(); err != nil {
		t.Fatal(err)
	}
	if calls != 1 || waited < 1 || waited > 2 || len(places) != 3 {
		t.Errorf("%d calls for %d forks waited %d times", calls, len(places), waited)
	}
	b.healthy()
}

// TestRemadeIsDurable: a lost workspace that is made again is on the disk before
// its mission is bound to it; if the disk fails it is taken away, and can be made
// again later.
func TestRemadeIsDurable(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	result, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work", Name: "child"})
	if err != nil {
		t.Fatal(err)
	}
	child := result.Missions[0]
	// While it is open nothing else gets its inode, by which the mission knows it.
	was, err := os.Open(child.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer was.Close()
	if err := os.RemoveAll(child.Workspace); err != nil {
		t.Fatal(err)
	}
	calls := 0
	var failure error
	b.local.SyncForks = func(made []*fork.Made) (int, error) {
		calls++
		if len(made) != 1 || made[0].Workspace != child.Workspace {
			t.Errorf("synced %+v", made)
		}
		if _, err := os.Stat(projects.AbsolutePath(child.Workspace, "a.txt")); err != nil {
			t.Errorf("synced before it was written: %v", err)
		}
		if m, err := b.local.MissionByID(child.ID); err != nil || !m.IsWorkspaceGone() {
			t.Errorf("bound before it was synced: %v", err)
		}
		n, err := fork.Sync(made)
		return n, errors.Join(err, failure)
	}
	resume := func() error {
		_, err := b.local.Launch(context.Background(), missions.LaunchRequest{Caller: b.caller(), Mission: "child", Resume: true})
		return err
	}
	failure = errors.New("the disk is gone")
	if err := resume(); !errors.Is(err, failure) || missions.AsError(err).Hint == "" {
		t.Errorf("the disk fails: %v", err)
	}
	if _, err := os.Stat(child.Workspace); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
	failure, calls = nil, 0
	if err := resume(); err != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	b.healthy()
}
