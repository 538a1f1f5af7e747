//go:build linux

package watcher

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// flood makes more events than the kernel's queue and fsnotify's buffer hold.
func flood(t *testing.T, root string) {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	must(t, err)
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	write(t, root+"/x", "")
	write(t, root+"/y", "")
	for i := range limit/2 + 4096 { // equal events in a row would be merged
		mode := os.FileMode(0o600 + i%2)
		must(t, os.Chmod(root+"/x", mode))
		must(t, os.Chmod(root+"/y", mode))
	}
}

func TestOverflow(t *testing.T) {
	for name, how := range map[string]int{"of the kernel's queue": 2, "of our own": 1} {
		t.Run(name, func(t *testing.T) {
			hazards.Held(t, hazards.H37, "a full queue, the kernel's or our own, ends in a full walk")
			noLeaks(t)
			w := newWatcher(t, Options{})
			root := t.TempDir()
			mkdir(t, root+"/gone/deep")
			mkdir(t, root+"/moved/deep")
			tree := watchTree(t, w, root)
			file, err := w.WatchFile(root+"/config", nil)
			must(t, err)
			file.Take()
			if how == 1 {
				w.queue.mu.Lock()
				w.queue.limit = 1000
				w.queue.mu.Unlock()
			}
			release := lag(t, w, how)
			flood(t, root)
			// All this is lost.
			mkdir(t, root+"/new/deep")
			must(t, os.RemoveAll(root+"/gone"))
			mkdir(t, root+"/gone/deep")
			must(t, os.Rename(root+"/moved", root+"/there"))
			release()
			mustFull(t, barrierTake(t, tree), WhyOverflow)
			if !file.Take() {
				t.Error("a file did not change though events were lost")
			}
			if n := w.Stats().Overflows; n == 0 {
				t.Error("no overflow was counted")
			}
			// What follows it is not.
			eventually(t, "the queue has settled", func() bool { barrier(t, tree); return !tree.Take().Full })
			for _, dir := range []string{"gone", "new", "there"} {
				write(t, root+"/"+dir+"/deep/file", "1")
			}
			mustBe(t, barrierTake(t, tree), []string{"gone/deep/file", "new/deep/file", "there/deep/file"}, nil)
		})
	}
}

// TestOverflowAgain: in a storm the tree is Full, but not walked all the time.
func TestOverflowAgain(t *testing.T) {
	clock := newFakeClock()
	w := newWatcher(t, Options{Clock: clock})
	root := t.TempDir()
	tree := watchTree(t, w, root)
	lose := func() {
		t.Helper()
		n := w.Stats().Overflows
		w.queue.push(item{lost: true})
		eventually(t, "the loss is known", func() bool { return w.Stats().Overflows == n+1 })
	}
	lose()
	mustFull(t, barrierTake(t, tree), WhyOverflow)
	mustBe(t, barrierTake(t, tree), nil, nil)
	lose()
	must(t, tree.SetIgnored(ignoreIgn))
	for range 3 {
		mustFull(t, barrierTake(t, tree), WhyOverflow)
	}
	clock.advance(recoverPause)
	eventually(t, "it recovers", func() bool { barrier(t, tree); return !tree.Take().Full })
	mkdir(t, root+"/a")
	mustBe(t, barrierTake(t, tree), nil, []string{"a"})
}

// TestStorm: the tree changes faster than it can be told; nothing is missing
// at the end.
func TestStorm(t *testing.T) {
	hazards.Held(t, hazards.H5, "a tree that changes faster than it can be told of, without a pause, is taken all the same")
	clock := newFakeClock()
	w := newWatcher(t, Options{Clock: clock})
	root := t.TempDir()
	tree := watchTree(t, w, root)
	known := model{}
	w.queue.mu.Lock()
	w.queue.limit = 50
	w.queue.mu.Unlock()
	for round := range 3 {
		for part := range 4 {
			release := lag(t, w, part%2)
			for i := range 80 {
				dir := fmt.Sprintf("%s/%d-%d-%d", root, round, part, i)
				mkdir(t, dir)
				write(t, dir+"/file", "1")
			}
			clock.advance(recoverPause / 2)
			release()
		}
		known.learn(root, barrierTake(t, tree))
		known.check(t, root, fmt.Sprint("round ", round))
	}
	if w.Stats().Overflows == 0 {
		t.Error("no overflow")
	}
}

func TestWatchLimit(t *testing.T) {
	hazards.Held(t, hazards.H5, "where watches are exhausted, what could not be watched is walked")
	clock := newFakeClock()
	w, p := newPicky(t, Options{Clock: clock})
	root := t.TempDir()
	for i := range 20 {
		mkdir(t, fmt.Sprintf("%s/%d/deep", root, i))
	}
	left := 10
	p.set(func(string) error {
		if left--; left < 0 {
			return syscall.ENOSPC
		}
		return nil
	})
	tree, err := w.Watch(root, nil)
	must(t, err)
	for range 2 {
		d := barrierTake(t, tree)
		mustFull(t, d, WhyLimit)
		if !strings.Contains(d.Why, "sysctl fs.inotify.max_user_watches=") {
			t.Errorf("no hint in %q", d.Why)
		}
	}
	s := w.Stats()
	if !s.LimitReached || s.LimitHint == "" || s.Watches != 2 || s.FullReasons[WhyLimit] != 1 {
		t.Errorf("%+v, want no watches but those of cookies and root", s)
	}
	// It is not tried again with each new directory, nor at once.
	added := len(p.added)
	mkdir(t, root+"/new")
	clock.advance(minRetry - 1)
	mustFull(t, barrierTake(t, tree), WhyLimit)
	if len(p.added) != added {
		t.Errorf("tried %d more", len(p.added)-added)
	}
	clock.advance(1)
	mustFull(t, barrierTake(t, tree), WhyLimit)
	if len(p.added) == added {
		t.Error("not tried again")
	}
	p.set(nil)
	clock.advance(minRetry)
	mustFull(t, barrierTake(t, tree), WhyLimit)
	clock.advance(minRetry)
	mustFull(t, barrierTake(t, tree), WhyUnwatched)
	write(t, root+"/new/file", "1")
	mustBe(t, barrierTake(t, tree), []string{"new/file"}, nil)
	if s := w.Stats(); s.LimitReached || s.LimitHint != "" {
		t.Errorf("the limit is told when it is no more: %+v", s)
	}
}

func TestWatchFails(t *testing.T) {
	w, p := newPicky(t, Options{})
	root := t.TempDir()
	mkdir(t, root+"/bad")
	p.set(func(path string) error {
		if filepath.Base(path) == "bad" {
			return syscall.ENAMETOOLONG
		}
		return nil
	})
	tree, err := w.Watch(root, nil)
	must(t, err)
	for range 2 {
		mustFull(t, barrierTake(t, tree), WhyUnwatched)
	}
}

// TestPathTooLong: nothing can be watched by a path over 4,096 bytes (H22).
func TestPathTooLong(t *testing.T) {
	w := newWatcher(t, Options{})
	root := t.TempDir()
	tree := watchTree(t, w, root)
	deep, err := os.OpenRoot(root)
	must(t, err)
	for range 20 {
		name := strings.Repeat("d", 250)
		must(t, deep.Mkdir(name, 0o755))
		next, err := deep.OpenRoot(name)
		must(t, err)
		must(t, deep.Close())
		deep = next
	}
	must(t, deep.WriteFile("file", nil, 0o600))
	must(t, deep.Close())
	for range 2 {
		d := barrierTake(t, tree)
		mustFull(t, d, WhyUnwatched)
		if len(d.Why) > 200 {
			t.Errorf("for people it says %d bytes", len(d.Why))
		}
	}
}

const limitedEnv = "WATCHER_TEST_LIMITED"

// TestKernelWatchLimit runs into the kernel's own limit, in a user namespace
// of its own so that nobody else does.
func TestKernelWatchLimit(t *testing.T) {
	const limit = 20
	if os.Getenv(limitedEnv) != "" {
		must(t, os.WriteFile("/proc/sys/user/max_inotify_watches", []byte(fmt.Sprint(limit)), 0))
		clock := newFakeClock()
		w := newWatcher(t, Options{Clock: clock})
		root := t.TempDir()
		tree := watchTree(t, w, root)
		for i := range limit {
			mkdir(t, fmt.Sprintf("%s/%d", root, i))
		}
		for range 2 {
			mustFull(t, barrierTake(t, tree), WhyLimit)
		}
		for i := range limit / 2 {
			must(t, os.Remove(fmt.Sprintf("%s/%d", root, i)))
		}
		clock.advance(time.Hour)
		mustFull(t, barrierTake(t, tree), WhyUnwatched)
		write(t, root+"/19/file", "1")
		mustBe(t, barrierTake(t, tree), []string{"19/file"}, nil)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKernelWatchLimit$", "-test.v")
	cmd.Env = append(os.Environ(), limitedEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, ran := err.(*exec.ExitError); err != nil && !ran {
		t.Skipf("no user namespace to lower the limit in: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestKernelWatchLimit") {
		t.Errorf("%v\n%s", err, out)
	}
}
