package watcher

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// fakeClock stands until it is moved.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	calls map[*fakeCall]struct{}
}

type fakeCall struct {
	at time.Time
	f  func()
}

func newFakeClock() *fakeClock {
	return &fakeClock{now: time.Date(2026, 1, 31, 16, 40, 0, 0, time.UTC), calls: map[*fakeCall]struct{}{}}
}

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) AfterFunc(d time.Duration, f func()) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := &fakeCall{c.now.Add(d), f}
	c.calls[call] = struct{}{}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.calls, call)
	}
}

func (c *fakeClock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for call := range c.calls {
		if !call.at.After(c.now) {
			due = append(due, call.f)
			delete(c.calls, call)
		}
	}
	c.mu.Unlock()
	for _, f := range due {
		f()
	}
}

// noLeaks fails the test if goroutines are left when it ends. It must be
// called before anything is started.
func noLeaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for deadline := time.Now().Add(patience.Of(time.Minute)); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				buf := make([]byte, 1<<16)
				t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
			}
		}
	})
}

func newWatcher(t testing.TB, opts Options) *Watcher {
	t.Helper()
	if opts.CookieDir == "" {
		opts.CookieDir = filepath.Join(t.TempDir(), "cookies")
	}
	w, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// picky is a notifier that refuses some watches.
type picky struct {
	*fsnotify.Watcher
	mu     sync.Mutex
	refuse func(path string) error
	added  []string
}

func (p *picky) Add(path string) error {
	p.mu.Lock()
	p.added = append(p.added, path)
	refuse := p.refuse
	p.mu.Unlock()
	if refuse != nil {
		if err := refuse(path); err != nil {
			return err
		}
	}
	return p.Watcher.Add(path)
}

func (p *picky) set(refuse func(string) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

func newPicky(t *testing.T, opts Options) (*Watcher, *picky) {
	t.Helper()
	fsn, err := fsnotify.NewWatcher()
	if err != nil {
		t.Fatal(err)
	}
	p := &picky{Watcher: fsn}
	opts.CookieDir = filepath.Join(t.TempDir(), "cookies")
	w, err := start(opts, p, fsn.Events, fsn.Errors)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, p
}

// ignoreIgn ignores directories whose names begin with "ign", and .git.
func ignoreIgn(rel string) bool {
	return strings.HasPrefix(base(rel), "ign") || base(rel) == ".git"
}

func watchTree(t testing.TB, w *Watcher, root string) *Tree {
	t.Helper()
	tree, err := w.Watch(root, ignoreIgn)
	if err != nil {
		t.Fatal(err)
	}
	if d := barrierTake(t, tree); !d.Full || !strings.HasPrefix(d.Why, WhyFirst) {
		t.Fatalf("first Take = %+v, want Full: %s", d, WhyFirst)
	}
	return tree
}

func barrier(t testing.TB, tree *Tree) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(time.Minute))
	defer cancel()
	if err := tree.Barrier(ctx); err != nil {
		t.Fatalf("Barrier: %v", err)
	}
}

func barrierTake(t testing.TB, tree *Tree) Dirty {
	t.Helper()
	barrier(t, tree)
	return tree.Take()
}

func covers(d Dirty, rel string) bool {
	if d.Full || slices.Contains(d.Paths, rel) {
		return true
	}
	for ; rel != "."; rel = filepath.Dir(rel) {
		if slices.Contains(d.Dirs, rel) {
			return true
		}
	}
	return false
}

func mustCover(t testing.TB, d Dirty, rels ...string) {
	t.Helper()
	for _, rel := range rels {
		if !covers(d, rel) {
			t.Errorf("%q is not covered by %+v", rel, d)
		}
	}
}

func mustBe(t testing.TB, d Dirty, paths, dirs []string) {
	t.Helper()
	if d.Full || !slices.Equal(d.Paths, paths) || !slices.Equal(d.Dirs, dirs) {
		t.Errorf("dirty is %+v, want paths %q, dirs %q", d, paths, dirs)
	}
}

func mustFull(t testing.TB, d Dirty, class string) {
	t.Helper()
	if !d.Full || !strings.HasPrefix(d.Why, class) {
		t.Errorf("dirty is %+v, want Full: %s", d, class)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func mkdir(t testing.TB, path string) {
	t.Helper()
	must(t, os.MkdirAll(path, 0o755))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// eventually waits for a condition that no barrier can wait for.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	if !patience.Until(time.Minute, ok) {
		t.Fatalf("not within %v: %s", patience.Of(time.Minute), what)
	}
}
