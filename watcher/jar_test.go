//go:build linux

package watcher

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestCloseEndsBarriers(t *testing.T) {
	noLeaks(t)
	w, err := New(Options{CookieDir: t.TempDir()})
	must(t, err)
	root := t.TempDir()
	tree := watchTree(t, w, root)
	w.queue.mu.Lock()
	ended := make(chan error)
	go func() { ended <- tree.Barrier(context.Background()) }()
	eventually(t, "the cookie is made", func() bool {
		w.jar.mu.Lock()
		defer w.jar.mu.Unlock()
		return len(w.jar.waiting) == 1
	})
	w.once.Do(func() { close(w.done) })
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("Barrier = %v", err)
	}
	w.queue.mu.Unlock()
	must(t, w.notify.Close())
	must(t, w.Close())
	must(t, w.Close())
	for name, err := range map[string]error{
		"Barrier": tree.Barrier(context.Background()), "Touch": tree.Touch(), "Close": tree.Close(),
		"SetIgnored": tree.SetIgnored(nil),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s = %v", name, err)
		}
	}
	if _, err := w.Watch(root, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Watch = %v", err)
	}
}

func TestBarrierContext(t *testing.T) {
	w := newWatcher(t, Options{})
	tree := watchTree(t, w, t.TempDir())
	release := lag(t, w, 2)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- tree.Barrier(ctx) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Barrier = %v", err)
	}
	release()
	barrier(t, tree)
	must(t, w.Close())
	left, err := os.ReadDir(w.jar.path())
	if err != nil || len(left) > 0 || len(w.jar.waiting) > 0 {
		t.Errorf("left in the jar: %v, %v, %v", left, w.jar.waiting, err)
	}
}

func TestCookieDirectoryLost(t *testing.T) {
	w := newWatcher(t, Options{})
	root := t.TempDir()
	mkdir(t, root+"/a")
	tree := watchTree(t, w, root)
	for _, away := range []func() error{
		func() error { return os.RemoveAll(w.opts.CookieDir) },
		func() error { return os.Rename(w.opts.CookieDir, w.opts.CookieDir+".away") },
	} {
		must(t, away())
		barrier(t, tree)
		tree.Take()
		write(t, root+"/a/f", "1")
		// The first barrier may have found it gone before the Watcher did.
		eventually(t, "barriers work again", func() bool {
			barrier(t, tree)
			return !tree.Take().Full
		})
		write(t, root+"/a/f", "2")
		mustBe(t, barrierTake(t, tree), []string{"a/f"}, nil)
	}
}

func TestCookiesAreSwept(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/"+cookiePrefix+"dead-1", "")
	write(t, dir+"/other", "")
	newWatcher(t, Options{CookieDir: dir})
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestRemedy: whatever limit keeps everything from being watched, it is said
// what to type.
func TestRemedy(t *testing.T) {
	for want, err := range map[string]error{
		"sudo sysctl fs.inotify.max_user_watches=":   syscall.ENOSPC,
		"sudo sysctl fs.inotify.max_user_instances=": syscall.EMFILE,
	} {
		if got := Remedy(fmt.Errorf("start: %w", err)); !strings.HasPrefix(got, want) {
			t.Errorf("against %v: %q, want %q and a number", err, got, want)
		}
	}
	if got := Remedy(syscall.EACCES); got != "" {
		t.Errorf("against a limit that is none: %q", got)
	}
}
