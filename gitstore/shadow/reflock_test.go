package shadow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// lockedCommits makes commits for the refs of these tests.
func lockedCommits(t testing.TB, s *Store, n int) (ids []gitstore.ID) {
	b := s.NewBatch()
	defer b.Discard()
	tree := must[gitstore.ID](t)(b.Tree(nil))
	for i := range n {
		ids = append(ids, must[gitstore.ID](t)(b.Commit(&gitstore.Commit{Tree: tree, Author: testSignature(i), Committer: testSignature(i), Message: fmt.Sprint(i)})))
	}
	noErr(t, b.Flush(context.Background()))
	return ids
}

func TestForeignLockIsReportedNotRemoved(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	c := lockedCommits(t, s, 1)
	path := filepath.Join(s.Dir(), string(gitstore.AgentRef(testMission))) + ".lock"
	noErr(t, os.WriteFile(path, nil, 0o600))
	noErr(t, os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour)))
	if err := s.UpdateRef(ctx, gitstore.AgentRef(testMission), gitstore.ID{}, c[0], gitstore.Durable); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	var locked *gitstore.RefLockedError
	if err := s.inspectLock("x", path); !errors.As(err, &locked) || locked.Live || locked.Path != path {
		t.Errorf("got %v", err)
	}
	if _, err := s.SweepLocks(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the lock is gone: %v", err)
	}
}

func TestDeadOwnersLockIsTakenOver(t *testing.T) {
	t.Parallel()
	naive := hazards.NewNaive(t, t.TempDir())
	killed := exec.Command("sh", "-c", `: >index.lock; kill -9 $$`) // as git does, killed while it holds it
	killed.Dir = naive.Dir
	_ = killed.Run()
	_, first := naive.Try("add", "-A")
	_, second := naive.Try("add", "-A")
	hazards.Shown(t, hazards.H25, first != nil && second != nil, "an `index.lock` that a killed git left makes every later `git add` fail")
	hazards.Held(t, hazards.H25, "a lock of a process that is known to be dead is taken over; that of another program is reported")
	s, ctx := newStore(t), context.Background()
	c := lockedCommits(t, s, 2)
	leave := func() {
		l, err := s.lockRef(ctx, string(gitstore.AgentRef(testMission)), refValue{id: c[1]}.encode(), gitstore.Durable)
		noErr(t, err)
		l.file.Close()
	}
	leave()
	noErr(t, s.UpdateRef(ctx, gitstore.AgentRef(testMission), gitstore.ID{}, c[0], gitstore.Durable))
	leave()
	if n := must[int](t)(s.SweepLocks()); n != 1 {
		t.Errorf("swept %d", n)
	}
	noErr(t, s.UpdateRef(ctx, gitstore.AgentRef(testMission), c[0], c[1], gitstore.Durable))
	if left := must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(s.Dir(), RefLockDir))); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestLiveOwnersLockIsWaitedFor(t *testing.T) {
	t.Parallel()
	s, ctx := newStore(t), context.Background()
	c := lockedCommits(t, s, 1)
	l, err := s.lockRef(ctx, string(gitstore.AgentRef(testMission)), nil, gitstore.Derived)
	noErr(t, err)
	var locked *gitstore.RefLockedError
	if err := s.inspectLock("x", l.path); !errors.As(err, &locked) || !locked.Live {
		t.Errorf("got %v", err)
	}
	if n := must[int](t)(s.SweepLocks()); n != 0 {
		t.Errorf("swept %d", n)
	}
	done := make(chan error)
	go func() {
		done <- s.UpdateRef(ctx, gitstore.AgentRef(testMission), gitstore.ID{}, c[0], gitstore.Durable)
	}()
	select {
	case err := <-done:
		t.Fatalf("did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	l.release()
	noErr(t, <-done)
}
