package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/settings"
	"github.com/umbra-vcs/umbra/missions/snapshots"
	"github.com/umbra-vcs/umbra/watcher"
)

// barrierPatience is how long a capture waits for the barrier before it walks
// everything instead.
const barrierPatience = 2 * time.Second

// watching is missions.Watching over one watcher.Watcher: a tree for each
// workspace in which an agent works. Its methods may be called from any
// goroutine.
type watching struct {
	log     *slog.Logger
	options watcher.Options
	// changed has a value when a mission changed since it was last received.
	changed chan struct{}

	mu      sync.Mutex
	watch   *watcher.Watcher // nil while the system lets nothing be watched
	broken  error            // why, then
	tried   time.Time        // when it was tried last
	closed  bool
	trees   map[string]*watcher.Tree
	wanted  map[string]bool                  // the workspaces of live missions
	ignored map[string]func(rel string) bool // by root, as captures told
}

func newWatching(o Options, config settings.Watch, log *slog.Logger) *watching {
	w := &watching{
		log: log, changed: make(chan struct{}, 1),
		options: watcher.Options{
			CookieDir: o.Home.CookieDir(), MaxWatches: o.MaxWatches, Settle: time.Duration(config.Settle), MaxWait: time.Duration(config.MaxWait),
		},
		trees: map[string]*watcher.Tree{}, wanted: map[string]bool{}, ignored: map[string]func(string) bool{},
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open()
	return w
}

// reopenEvery is how often it is tried again to watch where nothing could be.
const reopenEvery = 30 * time.Second

// open begins to watch, if that was not tried just now. The caller holds the
// lock.
func (w *watching) open() {
	if w.watch != nil || w.closed || !w.tried.IsZero() && time.Since(w.tried) < reopenEvery {
		return
	}
	w.tried = time.Now()
	watch, err := watcher.New(w.options)
	switch {
	case err == nil:
		w.watch, w.broken = watch, nil
	case w.broken == nil:
		w.log.Warn("nothing can be watched; every snapshot walks its workspace", "error", err)
		fallthrough
	default:
		w.broken = err
	}
}

// now is the watcher, nil while there is none.
func (w *watching) now() *watcher.Watcher {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.watch
}

func (w *watching) close() error {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	if watch := w.now(); watch != nil {
		return watch.Close()
	}
	return nil
}

// Rules implements missions.Watching. A workspace is watched from when the
// overseer has seen that a mission lives there; until then its rules are only
// remembered.
func (w *watching) Rules(root string, ignored func(rel string) bool) {
	w.mu.Lock()
	w.ignored[root] = ignored
	tree := w.trees[root]
	if tree == nil && w.wanted[root] {
		w.begin(root)
	}
	w.mu.Unlock()
	w.Changed("")
	if tree == nil {
		return
	}
	if err := tree.SetIgnored(ignored); err != nil {
		w.log.Warn("watch anew", "workspace", root, "error", err)
	}
}

// begin watches a workspace whose ignore rules are known. The caller holds the
// lock.
func (w *watching) begin(root string) *watcher.Tree {
	ignored := w.ignored[root]
	if w.watch == nil || ignored == nil {
		return nil
	}
	tree, err := w.watch.Watch(root, ignored)
	if err != nil {
		w.log.Warn("watch", "workspace", root, "error", err)
		return nil
	}
	w.trees[root] = tree
	return tree
}

// want watches a workspace from now on, and returns its tree; nil if its rules
// are not known yet or it can't be watched.
func (w *watching) want(root string) *watcher.Tree {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wanted[root] = true
	w.open()
	if tree := w.trees[root]; tree != nil {
		return tree
	}
	return w.begin(root)
}

// knows reports whether the ignore rules of a workspace are known.
func (w *watching) knows(root string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open()
	return w.watch == nil || w.ignored[root] != nil
}

// drop ends the watching of a workspace.
func (w *watching) drop(root string) {
	w.mu.Lock()
	tree := w.trees[root]
	delete(w.trees, root)
	delete(w.wanted, root)
	w.mu.Unlock()
	if tree == nil {
		return
	}
	if err := tree.Close(); err != nil && err != watcher.ErrClosed {
		w.log.Warn("end watching", "workspace", root, "error", err)
	}
}

func (w *watching) tree(root string) *watcher.Tree {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.trees[root]
}

// Take implements missions.Watching.
func (w *watching) Take(ctx context.Context, root string) missions.Dirty {
	tree := w.tree(root)
	if tree == nil {
		return missions.Dirty{Full: true, Why: snapshots.ReasonNotWatched}
	}
	ctx, cancel := context.WithTimeout(ctx, barrierPatience)
	defer cancel()
	if err := tree.Barrier(ctx); err != nil {
		return missions.Dirty{Full: true, Why: "no barrier: " + err.Error()}
	}
	d := tree.Take()
	return missions.Dirty{Full: d.Full, Why: d.Why, Lost: strings.HasPrefix(d.Why, watcher.WhyOverflow), Paths: d.Paths, Trees: d.Dirs}
}

// Return implements missions.Watching.
func (w *watching) Return(root string, d missions.Dirty) {
	if tree := w.tree(root); tree != nil {
		tree.Return(watcher.Dirty{Full: d.Full, Why: d.Why, Paths: d.Paths, Dirs: d.Trees})
	}
}

// Follow implements missions.Watching.
func (w *watching) Follow(path string, changed func()) (stop func()) {
	watch := w.now()
	if watch == nil {
		return nil
	}
	file, err := watch.WatchFile(path, changed)
	if err != nil {
		return nil
	}
	return func() { _ = file.Close() } // it fails with the watcher alone
}

// Changed implements missions.Watching.
func (w *watching) Changed(string) {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// stats are for people.
func (w *watching) stats() watcher.Stats {
	if watch := w.now(); watch != nil {
		return watch.Stats()
	}
	return watcher.Stats{}
}

// trouble says for people what can't be watched, and what to type where that
// helps; "" if all can be.
func (w *watching) trouble() (why, fix string) {
	w.mu.Lock()
	broken := w.broken
	w.mu.Unlock()
	if broken != nil {
		return fmt.Sprintf("nothing can be watched: each snapshot walks all files of its workspace, which is slower and as complete: %v", broken), watcher.Remedy(broken)
	}
	if s := w.stats(); s.LimitReached {
		return "no more directories can be watched: a snapshot of a workspace that is not walks all its files, which is slower and as complete", s.LimitHint
	}
	return "", ""
}
