package watcher

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Tree is a directory watched with everything below it that is not ignored.
// Its methods may be called from any goroutine.
type Tree struct {
	w     *Watcher
	root  string
	set   dirtySet
	stirs chan struct{}
	quiet chan struct{}
	busy  atomic.Bool

	// What follows is owned by the Watcher's loop.
	ignored     Ignored
	cookies     string // the cookie directory, relative, if below the root
	top         *node
	closed      bool
	limited     bool
	missing     bool // the root, when it was last looked for
	first, last time.Time
	retry       time.Time
	delay       time.Duration
}

// Watch watches the directory root, through symlinks in its own path but none
// below it. What the system can't watch (limits, a network file system) is no
// error: the tree is then Full whenever asked, and says why. A directory may
// be watched several times, and trees may lie in one another.
func (w *Watcher) Watch(root string, ignored Ignored) (*Tree, error) {
	root, err := filepath.Abs(root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	if info, err := os.Stat(root); err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("watch %s: not a directory", root)
	}
	t := &Tree{w: w, root: root, stirs: make(chan struct{}, 1), quiet: make(chan struct{}, 1), ignored: ignored}
	t.set.limit, t.set.count = w.opts.MaxPaths, w.counts.full
	err = w.call(context.Background(), func() {
		w.trees[t] = struct{}{}
		t.attach(why{WhyFirst, ""})
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Root is the watched directory, absolute and without symlinks.
func (t *Tree) Root() string { return t.root }

// Close ends the tree's watching. A closed tree's Take is Full.
func (t *Tree) Close() error {
	return t.w.call(context.Background(), func() {
		t.closed = true
		t.drop(t.top, false)
		t.top = nil
		delete(t.w.trees, t)
		t.set.setNever(why{WhyUnwatched, "the tree was closed"})
	})
}

// SetIgnored changes what is ignored. The tree is watched anew and Full.
func (t *Tree) SetIgnored(ignored Ignored) error {
	err := t.w.call(context.Background(), func() {
		if t.closed {
			return
		}
		t.ignored = ignored
		t.attach(why{WhyRules, ""})
	})
	return err
}

// Take returns what may have changed since the Take before and forgets it.
// After a Barrier it holds every change made before the Barrier was called.
// The first is Full.
func (t *Tree) Take() Dirty { return t.set.take() }

// Return puts back what was taken, for a caller that could not use it.
func (t *Tree) Return(d Dirty) { t.set.put(d) }

// Clean reports whether a Take would be empty.
func (t *Tree) Clean() bool { return t.set.empty() }

// Quiet receives a value when, after an event, there was none for Settle; and
// MaxWait after the first event, though they go on. A value nobody received
// stays, and there is never more than one.
func (t *Tree) Quiet() <-chan struct{} { return t.quiet }

// Stirs receives a value with the first event since the tree was watched or
// quiet. A value nobody received stays, and there is never more than one.
func (t *Tree) Stirs() <-chan struct{} { return t.stirs }

// Busy reports whether there was an event after which Quiet has not come yet.
func (t *Tree) Busy() bool { return t.busy.Load() }

// Touch counts as an event for Quiet and makes nothing dirty. A callback of
// WatchFile may call it.
func (t *Tree) Touch() error { return t.w.call(context.Background(), t.touch) }

// Barrier returns when every change to the tree that was made before the call
// is in the dirty set, and every directory that appeared before it is watched
// and walked. If that can't be had, the set is Full, and Barrier returns nil
// at once. The error is that of ctx, or ErrClosed: the caller then knows
// nothing and must walk everything.
func (t *Tree) Barrier(ctx context.Context) error {
	var relied bool
	if err := t.w.call(ctx, func() { relied = t.prove() }); err != nil {
		return err
	}
	if !relied {
		return nil
	}
	done, forget, err := t.w.jar.bake(t)
	if err != nil {
		t.set.setFull(why{WhyBarrier, err.Error()})
		return nil
	}
	defer forget()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-t.w.done:
		return ErrClosed
	}
}

// prove checks that the root is the directory that is watched, mends what can
// be mended, and reports whether a barrier makes sense.
func (t *Tree) prove() bool {
	if t.closed {
		return false
	}
	info, err := os.Lstat(t.root)
	there := err == nil && info.IsDir()
	flaw, _ := t.set.flawed()
	switch {
	case !there && t.top != nil, there && t.missing, there && t.top != nil && t.top.id != identify(info):
		t.attach(why{WhyRoot, ""})
	case there && flaw && !t.w.lost && !t.retry.IsZero() && !t.w.opts.Clock.Now().Before(t.retry):
		t.attach(why{WhyUnwatched, "tried again"})
	}
	if t.w.jar.watch == nil {
		if err := t.w.jar.open(); err != nil {
			t.set.setFull(why{WhyBarrier, err.Error()})
			return false
		}
	}
	flaw, never := t.set.flawed()
	return !flaw && !never
}

// attach watches the tree from scratch and makes it Full.
func (t *Tree) attach(y why) {
	t.drop(t.top, false)
	t.top, t.limited, t.missing = nil, false, false
	t.set.clearFlaw()
	t.retry = time.Time{}
	t.cookies = ""
	if rel, ok := strings.CutPrefix(t.w.jar.path(), t.prefix()); ok {
		t.cookies = rel
	}
	t.set.setNever(reliable(t.root))
	if t.w.lost {
		t.set.setFlaw(why{WhyOverflow, ""})
	}
	t.enter(nil, "")
	// Last, so that a Take before can't miss what happened during the walk.
	t.set.setFull(y)
	if flaw, _ := t.set.flawed(); !flaw {
		t.delay = 0
	}
}

// Retries after a flaw begin at minRetry and double up to maxRetry: a walk of
// a big tree that fails again is wasted.
const (
	minRetry = 30 * time.Second
	maxRetry = 16 * time.Minute
)

// flawed makes the tree Full until a later attach succeeds.
func (t *Tree) flawed(y why) {
	t.set.setFlaw(y)
	if t.retry.IsZero() {
		t.delay = min(max(minRetry, 2*t.delay), maxRetry)
		t.retry = t.w.opts.Clock.Now().Add(t.delay)
	}
}

// overLimit gives back what the tree holds of a resource that has run out, so
// that the user's other programs find some.
func (t *Tree) overLimit() {
	t.flawed(why{WhyLimit, limitHint()})
	t.limited = true
	if t.top == nil {
		return
	}
	for _, c := range t.top.children {
		t.drop(c, false)
	}
	t.top.children = nil
}
