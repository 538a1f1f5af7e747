package watcher

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// errTooMany is that of Options.MaxWatches.
var errTooMany = errors.New("as many directories are watched as may be")

// watch is one watched directory. The kernel has one watch for each inode and
// fsnotify one name for each watch, so everybody interested in the directory,
// under whatever path, shares it.
type watch struct {
	path string
	id   identity
	subs []subscriber
}

// subscriber is who wants to know of a directory. All calls come on the loop's
// goroutine.
type subscriber interface {
	// entry: something happened to the directory's entry name.
	entry(name string, op fsnotify.Op)
	// attributes: the directory's own attributes changed.
	attributes()
	// gone: the watch has ended. The subscriber queues itself to be renewed.
	gone()
	// renew: all is quiet again in the books; look at the disk.
	renew()
}

// subscribe watches the directory path, which has just been seen to be id.
func (w *Watcher) subscribe(path string, id identity, s subscriber) (*watch, error) {
	if x := w.byPath[path]; x != nil && x.id != id {
		// Its end is still in the queue. fsnotify would mix up the two.
		w.retire(x)
	}
	if x := w.byPath[path]; x != nil {
		x.subs = append(x.subs, s)
		return x, nil
	}
	if x := w.byID[id]; x != nil && id != (identity{}) {
		// Known under another path, by a mount or because a move is not yet
		// handled; adding it again would do nothing, under the old name. If
		// the old name ends, the watch is retired and this one renewed.
		x.subs = append(x.subs, s)
		return x, nil
	}
	if w.opts.MaxWatches > 0 && len(w.byPath) >= w.opts.MaxWatches {
		return nil, fmt.Errorf("watch %s: %w", path, errTooMany)
	}
	if err := w.notify.Add(path); err != nil {
		return nil, fmt.Errorf("watch %s: %w", path, err)
	}
	x := &watch{path: path, id: id, subs: []subscriber{s}}
	w.byPath[path] = x
	w.byID[id] = x
	return x, nil
}

// unsubscribe ends the watch with its last subscriber.
func (w *Watcher) unsubscribe(x *watch, s subscriber) {
	if i := slices.Index(x.subs, s); i >= 0 {
		x.subs = slices.Delete(x.subs, i, i+1)
		if len(x.subs) == 0 {
			w.remove(x)
		}
	}
}

// retire ends the watch for everybody: the directory has left its name, and
// fsnotify may have ended the watch already without a word.
func (w *Watcher) retire(x *watch) {
	subs := x.subs
	x.subs = nil
	w.remove(x)
	for _, s := range subs {
		s.gone()
	}
}

func (w *Watcher) remove(x *watch) {
	if w.byPath[x.path] == x {
		delete(w.byPath, x.path)
		delete(w.byID, x.id)
		// The error says only that the watch ended on its own.
		_ = w.notify.Remove(x.path)
	}
}

// handle tells those concerned of one event.
func (w *Watcher) handle(it item) {
	if it.lost {
		w.counts.overflow()
		w.lost = true
		w.recover(w.opts.Clock.Now())
		return
	}
	dir, base := filepath.Split(it.name)
	if len(dir) > 1 {
		dir = dir[:len(dir)-1]
	}
	self := w.byPath[it.name]
	if x := w.byPath[dir]; x != nil && base != "" {
		if len(x.subs) == 1 {
			x.subs[0].entry(base, it.op)
		} else {
			for _, s := range slices.Clone(x.subs) {
				s.entry(base, it.op)
			}
		}
	}
	switch {
	case self == nil || w.byPath[it.name] != self:
	case it.op.Has(fsnotify.Remove) || it.op.Has(fsnotify.Rename):
		w.retire(self)
	case it.op.Has(fsnotify.Chmod):
		for _, s := range slices.Clone(self.subs) {
			s.attributes()
		}
	}
}

// recoverPause keeps a storm that overflows the queue again and again from
// keeping the loop at nothing but walking.
const recoverPause = time.Second

// recover starts again after events were lost: any watch may have ended and
// any directory appeared. Until it has, every tree is Full.
func (w *Watcher) recover(now time.Time) {
	if next := w.recovered.Add(recoverPause); !w.recovered.IsZero() && now.Before(next) {
		for t := range w.trees {
			t.set.setFlaw(why{WhyOverflow, ""})
		}
		for f := range w.files {
			f.changed()
		}
		w.jar.release()
		w.alarm.set(next)
		return
	}
	w.lost = false
	w.queue.clear()
	for _, x := range w.byPath {
		x.subs = nil
		w.remove(x)
	}
	w.again = nil
	// The next barrier opens it again if this fails, and tells.
	w.jar.watch = nil
	_ = w.jar.open()
	for t := range w.trees {
		t.top = nil
		t.attach(why{WhyOverflow, ""})
	}
	for f := range w.files {
		f.legs = nil
		f.renew()
	}
	w.jar.release()
	w.recovered = w.opts.Clock.Now()
}
