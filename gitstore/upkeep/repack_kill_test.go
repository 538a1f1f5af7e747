package upkeep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// waitForRepack repacks once nobody else does.
func waitForRepack(t *testing.T, s *shadow.Store) {
	t.Helper()
	for deadline := time.Now().Add(patience.Of(time.Minute)); ; time.Sleep(5 * time.Millisecond) {
		_, err := Repack(context.Background(), s)
		if err == nil {
			return
		}
		if !errors.Is(err, ErrRepacking) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// TestRepackWaitsForOrphans: git's own child goes on after everyone above it was
// killed. While it lives nothing of its work is touched.
func TestRepackWaitsForOrphans(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 3), context.Background()
	note := filepath.Join(t.TempDir(), "pid")
	bin := storetest.FakeGit(t, "sleep 300 & echo $! > "+note+".new; touch $GIT_OBJECT_DIRECTORY/pack/tmp_pack_x; mv "+note+".new "+note+"; wait\n")
	cmd := child(t, "repack", s.Dir(), "")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	cmd.Stderr = nil
	storetest.NoErr(t, cmd.Start())
	var pid int
	for deadline := time.Now().Add(patience.Of(time.Minute)); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(note); err == nil {
			_, err := fmt.Sscan(string(text), &pid)
			storetest.NoErr(t, err)
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("git was not started")
		}
	}
	storetest.NoErr(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if _, err := Repack(ctx, s); !errors.Is(err, ErrRepacking) {
		t.Errorf("beside an orphan: %v", err)
	}
	_, err := Sweep(ctx, s)
	storetest.NoErr(t, err)
	if left := storetest.Must[[]string](t)(filepath.Glob(filepath.Join(s.Dir(), repackDir, "*", "pack", "tmp_pack_x"))); len(left) != 1 {
		t.Errorf("the orphan's file is gone: %v", left)
	}
	storetest.NoErr(t, unix.Kill(pid, unix.SIGKILL))
	waitForRepack(t, s)
	_, err = Sweep(ctx, s)
	storetest.NoErr(t, err)
	storetest.NoLeftovers(t, s)
	storetest.Fsck(t, s)
}

// TestRepackIsStopped ends with its context, git with it.
func TestRepackIsStopped(t *testing.T) {
	s := scattered(t, 3)
	note := filepath.Join(t.TempDir(), "started")
	t.Setenv("PATH", storetest.FakeGit(t, "sleep 300 & echo $! > "+note+".new; mv "+note+".new "+note+"; wait\n")+":"+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for {
			if _, err := os.Stat(note); err == nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	had := everythingBy(t, s)
	if _, err := Repack(ctx, s); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := storetest.Must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(s.Dir(), repackDir))); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if got := everythingBy(t, s); got != had {
		t.Errorf("objects before %d, after %d", had, got)
	}
	var pid int
	_, err := fmt.Sscan(string(storetest.Must[[]byte](t)(os.ReadFile(note))), &pid)
	storetest.NoErr(t, err)
	for deadline := time.Now().Add(patience.Of(time.Minute)); runs(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("git's child goes on")
		}
	}
}

// runs reports whether a process lives, as opposed to gone or dead and unburied.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return unix.Kill(pid, 0) == nil
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

// everythingBy counts object files without git.
func everythingBy(t *testing.T, s *shadow.Store) int {
	t.Helper()
	n := len(storetest.LoosePaths(t, s))
	for _, p := range s.Own().Packs {
		n += p.Count()
	}
	return n
}

// TestCheckKeepsRepackAway: fsck takes objects that move for damage.
func TestCheckKeepsRepackAway(t *testing.T) {
	s, ctx := scattered(t, 3), context.Background()
	other := storetest.Must[*shadow.Store](t)(shadow.Open(s.Dir()))
	defer other.Close()
	note, ready := filepath.Join(t.TempDir(), "note"), filepath.Join(t.TempDir(), "ready")
	t.Setenv("PATH", storetest.FakeGit(t, "touch "+note+"; while [ ! -e "+ready+" ]; do sleep 0.01; done\n")+":"+os.Getenv("PATH"))
	checked := make(chan error, 1)
	go func() {
		_, err := Check(ctx, s)
		checked <- err
	}()
	for deadline := time.Now().Add(patience.Of(time.Minute)); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(note); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("git was not started")
		}
	}
	if _, err := Repack(ctx, other); !errors.Is(err, ErrRepacking) {
		t.Errorf("beside a check: %v", err)
	}
	storetest.NoErr(t, os.WriteFile(ready, nil, 0o600))
	storetest.NoErr(t, <-checked)
	held := storetest.Must[*os.File](t)(holdRepack(other))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Check(ended, s); !errors.Is(err, context.Canceled) {
		t.Errorf("beside a repack, given up: %v", err)
	}
	storetest.NoErr(t, errors.Join(flock.Take(held, unix.LOCK_UN), held.Close()))
}
