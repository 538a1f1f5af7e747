package watcher

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// ErrClosed is returned by what is asked of a closed Watcher, Tree or File.
var ErrClosed = errors.New("watcher closed")

// Ignored says whether a directory, given slash-separated and relative to the
// tree's root, is left out with everything below it. It is asked before a
// watch is added, on the Watcher's goroutine: it must be quick and must not
// call the Watcher. A directory that holds a file somebody wants is not
// ignored. Nothing is ignored of itself, ".git" neither.
type Ignored func(rel string) bool

// Options configure a Watcher.
type Options struct {
	// CookieDir is a directory of the caller's own, outside every tree, made
	// with mode 0700 if missing, in one that is there. A file in it is renamed by each Barrier; what
	// a Watcher that died left there is removed. Watchers may share it.
	CookieDir string
	// Settle is how long a tree must be without an event to be quiet;
	// 500 ms if 0.
	Settle time.Duration
	// MaxWait is how long after the first event quiet is said at the latest,
	// though a writer never pauses; ten times Settle if 0.
	MaxWait time.Duration
	// MaxPaths bounds a tree's dirty set: beyond it, paths fold into their
	// directories and at last into Full; 20,000 if 0.
	MaxPaths int
	// MaxWatches is how many directories may be watched at once, beside the
	// system's own limit; any number if 0.
	MaxWatches int
	// Clock is the system's if nil.
	Clock Clock
}

func (o *Options) fill() {
	if o.Settle <= 0 {
		o.Settle = 500 * time.Millisecond
	}
	if o.MaxWait <= 0 {
		o.MaxWait = 10 * o.Settle
	}
	if o.MaxPaths <= 0 {
		o.MaxPaths = 20_000
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
}

// notifier is the part of fsnotify.Watcher that adds and removes watches; tests
// put a failing one around it.
type notifier interface {
	Add(path string) error
	Remove(path string) error
	Close() error
}

// Watcher is one inotify instance with the trees and files it watches. Its
// methods may be called from any goroutine.
type Watcher struct {
	opts   Options
	notify notifier
	queue  *queue
	jar    *jar
	news   *news
	counts *counts

	calls chan func()
	wake  chan struct{}
	done  chan struct{}
	once  sync.Once
	wg    sync.WaitGroup

	// What follows is owned by the goroutine that runs loop.
	byPath    map[string]*watch
	byID      map[identity]*watch
	trees     map[*Tree]struct{}
	files     map[*File]struct{}
	again     []subscriber
	alarm     alarm
	lost      bool
	recovered time.Time
}

// New starts a Watcher, which must be closed. Remedy says what helps against its
// error.
func New(opts Options) (*Watcher, error) {
	fsn, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("start watching: %w", err)
	}
	return start(opts, fsn, fsn.Events, fsn.Errors)
}

// Remedy is what to type against an error of New that is one of the system's
// limits, "" if it is another.
func Remedy(err error) string {
	if overLimit(err) {
		return limitHint()
	}
	return instanceHint(err)
}

// start runs a Watcher over a notifier, which it owns from then on.
func start(opts Options, n notifier, events <-chan fsnotify.Event, errs <-chan error) (*Watcher, error) {
	opts.fill()
	w := &Watcher{
		opts: opts, notify: n,
		queue: newQueue(), news: newNews(), counts: newCounts(),
		calls: make(chan func()), wake: make(chan struct{}, 1), done: make(chan struct{}),
		byPath: map[string]*watch{}, byID: map[identity]*watch{},
		trees: map[*Tree]struct{}{}, files: map[*File]struct{}{},
	}
	w.jar = newJar(w)
	w.alarm = alarm{clock: opts.Clock, ring: w.ring}
	w.wg.Add(3)
	go func() { defer w.wg.Done(); w.queue.pump(events, errs) }()
	go func() { defer w.wg.Done(); w.news.deliver(w.done) }()
	go func() { defer w.wg.Done(); w.loop() }()

	var err error
	if called := w.call(context.Background(), func() { err = w.jar.open() }); called != nil {
		err = called
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("watch cookies: %w", err), w.Close())
	}
	return w, nil
}

// Close ends all watching and returns when no goroutine of the Watcher is
// left. Waiting barriers return ErrClosed. It must not be called from a
// callback of WatchFile.
func (w *Watcher) Close() error {
	var err error
	w.once.Do(func() {
		close(w.done)
		err = w.notify.Close()
	})
	w.wg.Wait()
	return errors.Join(err, w.jar.clear())
}

// call runs f on the loop's goroutine and returns when it has run.
func (w *Watcher) call(ctx context.Context, f func()) error {
	ran := make(chan struct{})
	select {
	case w.calls <- func() { defer close(ran); f(); w.renewAll() }:
		<-ran
		return nil
	case <-w.done:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// batch is how many events are handled before calls and timers get a look-in.
const batch = 256

func (w *Watcher) loop() {
	defer func() { w.alarm.stop() }()
	for {
		select {
		case <-w.done:
			return
		case f := <-w.calls:
			f()
		case <-w.wake:
			w.onTime()
			w.renewAll()
		case <-w.queue.ready:
			for _, it := range w.queue.take(batch) {
				w.handle(it)
				w.renewAll()
			}
		}
	}
}

// renewAll ends each step of the loop: it lets those who lost a watch look
// again, until nobody has.
func (w *Watcher) renewAll() {
	for len(w.again) > 0 {
		s := w.again[0]
		w.again = w.again[1:]
		s.renew()
	}
	w.again = nil
	limited := 0
	for t := range w.trees {
		if t.limited {
			limited++
		}
	}
	w.counts.size(len(w.byPath), len(w.trees), len(w.files), limited)
}

// ring wakes the loop; it may be called from any goroutine.
func (w *Watcher) ring() { signal(w.wake) }

func (w *Watcher) onTime() {
	now := w.opts.Clock.Now()
	w.alarm.rang()
	if w.lost {
		w.recover(now)
	}
	for t := range w.trees {
		t.checkQuiet(now)
	}
}
