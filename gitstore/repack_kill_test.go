package gitstore

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
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// waitForRepack repacks once nobody else does.
func waitForRepack(t *testing.T, s *Store) {
	t.Helper()
	for deadline := time.Now().Add(patience.Of(time.Minute)); ; time.Sleep(5 * time.Millisecond) {
		_, err := s.Repack(context.Background())
		if err == nil {
			return
		}
		if !errors.Is(err, ErrRepacking) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// fakeGit puts a git first in the PATH of a command that leaves a program behind,
// which writes its process id to a file.
func fakeGit(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	noErr(t, os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+script), 0o700))
	return dir
}

// TestRepackWaitsForOrphans: git's own child goes on after everyone above it was
// killed. While it lives nothing of its work is touched.
func TestRepackWaitsForOrphans(t *testing.T) {
	t.Parallel()
	s, ctx := scattered(t, 3), context.Background()
	note := filepath.Join(t.TempDir(), "pid")
	bin := fakeGit(t, "sleep 300 & echo $! > "+note+".new; touch $GIT_OBJECT_DIRECTORY/pack/tmp_pack_x; mv "+note+".new "+note+"; wait\n")
	cmd := child(t, "repack", s.Dir(), "")
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"))
	cmd.Stderr = nil
	noErr(t, cmd.Start())
	var pid int
	for deadline := time.Now().Add(patience.Of(time.Minute)); ; time.Sleep(5 * time.Millisecond) {
		if text, err := os.ReadFile(note); err == nil {
			_, err := fmt.Sscan(string(text), &pid)
			noErr(t, err)
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("git was not started")
		}
	}
	noErr(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if _, err := s.Repack(ctx); !errors.Is(err, ErrRepacking) {
		t.Errorf("beside an orphan: %v", err)
	}
	_, err := s.Sweep(ctx)
	noErr(t, err)
	if left := must[[]string](t)(filepath.Glob(filepath.Join(s.Dir(), repackDir, "*", "pack", "tmp_pack_x"))); len(left) != 1 {
		t.Errorf("the orphan's file is gone: %v", left)
	}
	noErr(t, unix.Kill(pid, unix.SIGKILL))
	waitForRepack(t, s)
	_, err = s.Sweep(ctx)
	noErr(t, err)
	noLeftovers(t, s)
	fsck(t, s)
}

// TestRepackIsStopped ends with its context, git with it.
func TestRepackIsStopped(t *testing.T) {
	s := scattered(t, 3)
	note := filepath.Join(t.TempDir(), "started")
	t.Setenv("PATH", fakeGit(t, "sleep 300 & echo $! > "+note+".new; mv "+note+".new "+note+"; wait\n")+":"+os.Getenv("PATH"))
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
	if _, err := s.Repack(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left := must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(s.Dir(), repackDir))); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if got := everythingBy(t, s); got != had {
		t.Errorf("objects before %d, after %d", had, got)
	}
	var pid int
	_, err := fmt.Sscan(string(must[[]byte](t)(os.ReadFile(note))), &pid)
	noErr(t, err)
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
func everythingBy(t *testing.T, s *Store) int {
	t.Helper()
	n := len(loosePaths(t, s))
	for _, p := range s.own().packs {
		n += p.count()
	}
	return n
}

// TestCheckKeepsRepackAway: fsck takes objects that move for damage.
func TestCheckKeepsRepackAway(t *testing.T) {
	s, ctx := scattered(t, 3), context.Background()
	other := must[*Store](t)(Open(s.Dir()))
	defer other.Close()
	note, ready := filepath.Join(t.TempDir(), "note"), filepath.Join(t.TempDir(), "ready")
	t.Setenv("PATH", fakeGit(t, "touch "+note+"; while [ ! -e "+ready+" ]; do sleep 0.01; done\n")+":"+os.Getenv("PATH"))
	checked := make(chan error, 1)
	go func() {
		_, err := s.Check(ctx)
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
	if _, err := other.Repack(ctx); !errors.Is(err, ErrRepacking) {
		t.Errorf("beside a check: %v", err)
	}
	noErr(t, os.WriteFile(ready, nil, 0o600))
	noErr(t, <-checked)
	held := must[*os.File](t)(other.holdRepack())
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Check(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("beside a repack, given up: %v", err)
	}
	noErr(t, errors.Join(flock.Take(held, unix.LOCK_UN), held.Close()))
}
