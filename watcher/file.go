package watcher

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fsnotify/fsnotify"
)

// File is one watched file, which need not exist. It is watched through the
// directory it is in, or would be in, so it may be replaced by rename; if it
// is a symlink, the file it leads to is watched as well. Its methods may be
// called from any goroutine.
type File struct {
	w      *Watcher
	path   string
	notify func()
	dirty  atomic.Bool
	broken atomic.Bool
	closed atomic.Bool
	legs   []*leg // owned by the Watcher's loop
}

// WatchFile watches a single file. notify, if not nil, is called soon after
// changes, several in one call, never twice at once, on a goroutine of the
// Watcher's; it must not block for long nor close the Watcher.
func (w *Watcher) WatchFile(path string, notify func()) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f := &File{w: w, path: path, notify: notify}
	f.dirty.Store(true)
	err = w.call(context.Background(), func() {
		w.files[f] = struct{}{}
		f.resolve()
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Path is the file's absolute path.
func (f *File) Path() string { return f.path }

// Take reports whether the file may have changed, appeared or gone since the
// Take before; the first does. A Barrier of any tree covers files too. Where
// events can't be relied on it is always true.
func (f *File) Take() bool {
	changed := f.dirty.Swap(false)
	return changed || f.broken.Load() || f.closed.Load()
}

// Close ends the watching; notify is not called any more, though a call may
// still be running.
func (f *File) Close() error {
	f.closed.Store(true)
	return f.w.call(context.Background(), func() {
		f.drop()
		delete(f.w.files, f)
	})
}

// leg is one directory that a file's fate depends on, and the entry in it.
type leg struct {
	file      *File
	dir, name string
	watch     *watch
}

func (l *leg) entry(name string, op fsnotify.Op) {
	if name != l.name || l.watch == nil {
		return
	}
	if op&^fsnotify.Write != 0 {
		l.file.resolve()
	}
	l.file.changed()
}

func (l *leg) attributes() {}

func (l *leg) gone() {
	l.watch = nil
	l.file.w.again = append(l.file.w.again, l)
}

func (l *leg) renew() {
	if slices.Contains(l.file.legs, l) {
		l.file.renew()
	}
}

func (f *File) renew() {
	f.resolve()
	f.changed()
}

func (f *File) changed() {
	f.dirty.Store(true)
	if f.notify != nil {
		f.w.news.add(f)
	}
}

func (f *File) drop() {
	for _, l := range f.legs {
		if l.watch != nil {
			f.w.unsubscribe(l.watch, l)
			l.watch = nil
		}
	}
	f.legs = nil
}

// resolve watches the directories that matter now. What matters is asked
// again once they are watched, since it may have changed before.
func (f *File) resolve() {
	for range maxSwaps {
		legs := legsOf(f.path)
		same := slices.EqualFunc(legs, f.legs, func(a, b *leg) bool {
			return b.watch != nil && a.dir == b.dir && a.name == b.name && b.watch.id == idOf(a.dir)
		})
		if same {
			return
		}
		old := f.legs
		f.legs = legs
		f.broken.Store(false)
		for _, l := range legs {
			l.file = f
			if err := l.open(); err != nil && !vanished(err) {
				f.broken.Store(true)
			}
		}
		for _, l := range old {
			if l.watch != nil {
				f.w.unsubscribe(l.watch, l)
				l.watch = nil
			}
		}
		if f.broken.Load() {
			return
		}
	}
	f.broken.Store(true)
}

func (l *leg) open() error {
	info, err := os.Stat(l.dir)
	if err != nil {
		return err
	}
	w := l.file.w
	l.watch, err = w.subscribe(l.dir, identify(info), l)
	if overLimit(err) {
		w.counts.overLimit()
	}
	if err == nil && reliable(l.dir) != (why{}) {
		return errors.ErrUnsupported
	}
	return err
}

func idOf(dir string) identity {
	info, err := os.Stat(dir)
	if err != nil {
		return identity{}
	}
	return identify(info)
}

// maxLinks is how many symlinks Linux follows in one path (path_resolution(7)).
const maxLinks = 40

// legsOf follows a path from symlink to symlink. Where it breaks off, the last
// leg is the entry whose coming would lead on.
func legsOf(path string) []*leg {
	var legs []*leg
	for range maxLinks {
		dir, name := filepath.Dir(path), filepath.Base(path)
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			if dir == path {
				break
			}
			path = dir
			continue
		}
		legs = append(legs, &leg{dir: real, name: name})
		target, err := os.Readlink(filepath.Join(real, name))
		if err != nil {
			break
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(real, target)
		}
		path = target
	}
	return legs
}

// news calls the callbacks of changed files.
type news struct {
	mu    sync.Mutex
	files map[*File]struct{}
	ready chan struct{}
}

func newNews() *news { return &news{files: map[*File]struct{}{}, ready: make(chan struct{}, 1)} }

func (n *news) add(f *File) {
	n.mu.Lock()
	n.files[f] = struct{}{}
	n.mu.Unlock()
	select {
	case n.ready <- struct{}{}:
	default:
	}
}

func (n *news) deliver(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case <-n.ready:
		}
		n.mu.Lock()
		files := n.files
		n.files = map[*File]struct{}{}
		n.mu.Unlock()
		for f := range files {
			if !f.closed.Load() {
				f.notify()
			}
		}
	}
}
