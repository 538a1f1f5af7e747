package watcher

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"
)

const cookiePrefix = "cookie-"

// jar makes cookies: names in a directory that the same inotify instance
// watches. One queue holds the events of all directories in the order in which
// they happened, also across file systems, so when a cookie's event is
// handled, everything that happened before it was made has been handled.
type jar struct {
	w     *Watcher
	name  string
	watch *watch // nil if cookies can't be seen; owned by the loop

	mu      sync.Mutex
	dir     string
	file    string // the newest cookie, "" before the first
	made    int
	waiting map[string]waiter
}

type waiter struct {
	tree *Tree
	done chan struct{}
}

func newJar(w *Watcher) *jar {
	return &jar{w: w, name: cookiePrefix + rand.Text() + "-", waiting: map[string]waiter{}}
}

// open makes and watches the directory. Cookies of a Watcher that died are
// swept; one of a living one may go with them, its event already sent.
func (j *jar) open() error {
	dir, err := filepath.Abs(j.w.opts.CookieDir)
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err // what it is in was moved, or removed
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if j.watch, err = j.w.subscribe(dir, identify(info), j); err != nil {
		return err
	}
	j.mu.Lock()
	j.dir = dir
	j.mu.Unlock()
	left, err := os.ReadDir(dir)
	for _, e := range left {
		if strings.HasPrefix(e.Name(), cookiePrefix) && !strings.HasPrefix(e.Name(), j.name) {
			if gone := os.Remove(filepath.Join(dir, e.Name())); !errors.Is(gone, fs.ErrNotExist) {
				err = errors.Join(err, gone)
			}
		}
	}
	return err
}

// bake makes a cookie for a tree; forget must be called in the end. There is
// one file, renamed for each cookie: on ext4, making and removing a file each
// time costs 20 times as much, for some seconds after each removal, and on a
// full disk it would fail.
func (j *jar) bake(t *Tree) (done <-chan struct{}, forget func(), err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.made++
	name := fmt.Sprint(j.name, j.made)
	path := filepath.Join(j.dir, name)
	passed := make(chan struct{})
	j.waiting[name] = waiter{t, passed}

	if err = os.Rename(j.file, path); err != nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		delete(j.waiting, name)
		return nil, nil, err
	}
	j.file = path
	return passed, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.waiting, name)
	}, nil
}

// clear leaves no cookie behind.
func (j *jar) clear() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == "" {
		return nil
	}
	if err := os.Remove(j.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// release lets everybody pass: their trees are Full.
func (j *jar) release() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, one := range j.waiting {
		close(one.done)
		delete(j.waiting, name)
	}
}

func (j *jar) entry(name string, op fsnotify.Op) {
	if !op.Has(fsnotify.Create) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if one, ok := j.waiting[name]; ok {
		close(one.done)
		delete(j.waiting, name)
	}
}

func (j *jar) attributes() {}

func (j *jar) gone() {
	j.watch = nil
	j.w.again = append(j.w.again, j)
}

// renew follows the directory's removal or move. Cookies made meanwhile may
// never be seen, so those who wait for one pass with a Full tree.
func (j *jar) renew() {
	j.watch = nil
	// The next barrier tries again and tells.
	_ = j.open()
	j.mu.Lock()
	for _, one := range j.waiting {
		one.tree.set.setFull(why{WhyBarrier, "the cookie directory was replaced"})
	}
	j.mu.Unlock()
	j.release()
}

func (j *jar) path() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.dir
}
