package shadow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/flock"
)

const (
	LockSuffix = ".lock"
	// lockPatience is how long a ref's lock is waited for. Git and Umbra hold
	// one for milliseconds.
	lockPatience = 3 * time.Second
)

// refLock is the right to replace one ref, in Git's protocol: whoever creates
// <ref>.lock has it, and renames it onto the ref.
//
// The lock file is made as umbra/reflocks/<ref>.<random>, filled, flocked and
// only then hard-linked to <ref>.lock, so that it appears with its owner's flock
// on it; and the first name stays until the lock is given up. So a lock file
// found in the way is a running Umbra's if its flock is held, and a dead Umbra's
// if it is not held and umbra/reflocks has the same inode: that one is removed.
// Any other belongs to another program and is reported.
type refLock struct {
	refs *refs
	name string
	file *os.File
	own  string
	path string
	done bool
}

// lockRef takes the lock of a ref (or of packed-refs) with the value to publish
// already written, and synced if durable.
func (r *refs) lockRef(ctx context.Context, name string, value []byte, d gitstore.Durability) (*refLock, error) {
	l := &refLock{refs: r, name: name, path: filepath.Join(r.dir, name) + LockSuffix}
	if err := l.create(value, d); err != nil {
		return nil, err
	}
	failpoint.Hit("ref.prepared")
	deadline := time.Now().Add(lockPatience)
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err := l.link()
		if err == nil {
			failpoint.Hit("ref.locked")
			return l, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			l.release()
			return nil, err
		}
		busy := r.inspectLock(name, l.path)
		if busy == nil {
			continue
		}
		if time.Now().After(deadline) {
			l.release()
			return nil, busy
		}
		select {
		case <-ctx.Done():
			l.release()
			return nil, fmt.Errorf("%s: %w", name, ctx.Err())
		case <-time.After(wait):
		}
	}
}

// create makes the lock file under its own name.
func (l *refLock) create(value []byte, d gitstore.Durability) error {
	dir := filepath.Join(l.refs.dir, RefLockDir)
	f, err := flock.CreateTemp(dir, url.PathEscape(l.name)+".*")
	if errors.Is(err, fs.ErrNotExist) {
		if err = disk.MakeDirs(l.refs.dir, dir); err == nil {
			f, err = flock.CreateTemp(dir, url.PathEscape(l.name)+".*")
		}
	}
	if err != nil {
		return err
	}
	l.file, l.own = f, f.Name()
	_, err = f.Write(value)
	if err == nil && d == gitstore.Durable {
		err = l.refs.sync.File(f)
	}
	if err != nil {
		l.release()
	}
	return err
}

// link makes the lock visible, with the directory that Git may have removed.
func (l *refLock) link() error {
	err := os.Link(l.own, l.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := l.refs.sync.MakeDirs(l.refs.dir, filepath.Dir(l.path)); err != nil {
			return l.parentConflict(err)
		}
		err = os.Link(l.own, l.path)
	}
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		err = l.createInPlace()
	}
	return l.parentConflict(err)
}

// createInPlace makes the lock where the file system has no hard links. Of a
// dead owner it can then not be told whose it was.
func (l *refLock) createInPlace() error {
	value, err := os.ReadFile(l.own)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = flock.Take(f, unix.LOCK_EX); err == nil {
		if _, err = f.Write(value); err == nil {
			err = l.refs.sync.File(f)
		}
	}
	if err != nil {
		os.Remove(l.path)
		f.Close()
		return err
	}
	l.file.Close()
	l.file = f
	return nil
}

func (l *refLock) parentConflict(err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return &gitstore.RefConflictError{Ref: l.name, With: l.name[:strings.LastIndexByte(l.name, '/')]}
	}
	return err
}

// rewrite replaces the value before it is published.
func (l *refLock) rewrite(value []byte) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt(value, 0)
	return err
}

// publish renames the lock onto the ref.
func (l *refLock) publish() error {
	if err := renameOver(l.path, filepath.Join(l.refs.dir, l.name), l.name, l.refs.dir); err != nil {
		return err
	}
	failpoint.Hit("ref.published")
	l.done = true
	return nil
}

// release gives the lock up. The flock goes last.
func (l *refLock) release() {
	if is, _ := disk.IsAt(l.path, l.file); is && !l.done {
		os.Remove(l.path)
	}
	failpoint.Hit("ref.unlocking")
	os.Remove(l.own)
	_ = flock.Release(l.file)
}

// inspectLock removes the lock file of a dead Umbra process and returns nil, or
// says whose it is. It also returns nil if the lock has gone meanwhile.
func (r *refs) inspectLock(name, path string) error {
	fi, err := os.Lstat(path)
	if err == nil {
		var f *os.File
		if f, err = flock.Hold(path, os.O_RDONLY, unix.LOCK_EX); err == nil {
			defer func() { _ = flock.Release(f) }()
			fi, err = f.Stat()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil && !flock.IsHeld(err) {
		return err
	}
	busy := &gitstore.RefLockedError{Ref: name, Path: path, Since: fi.ModTime()}
	if err != nil {
		busy.Live = errors.Is(err, unix.EWOULDBLOCK)
		return busy
	}
	own := r.OwnLockName(name, fi)
	if own == "" {
		return busy
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.Remove(own)
}

// OwnLockName finds the name in umbra/reflocks of the file that fi describes.
func (r *refs) OwnLockName(name string, fi fs.FileInfo) string {
	dir := filepath.Join(r.dir, RefLockDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), url.PathEscape(name)+".") {
			continue
		}
		if own, err := e.Info(); err == nil && os.SameFile(own, fi) {
			return filepath.Join(dir, e.Name())
		}
	}
	return ""
}

// LockOf gives the lock file that a name in umbra/reflocks stands for, if it still
// is the same open file; else "".
func (r *refs) LockOf(own string, f *os.File) (string, error) {
	path, ok := r.lockPathOf(own)
	if !ok {
		return "", nil
	}
	is, err := disk.IsAt(path, f)
	if err != nil || !is {
		return "", err
	}
	return path, nil
}

// lockPathOf gives the lock file that a name in umbra/reflocks stands for.
func (r *refs) lockPathOf(own string) (string, bool) {
	escaped := own
	if dot := strings.LastIndexByte(own, '.'); dot > 0 {
		escaped = own[:dot]
	}
	name, err := url.PathUnescape(escaped)
	if err != nil || !filepath.IsLocal(name) {
		return "", false
	}
	return filepath.Join(r.dir, name) + LockSuffix, true
}

// SweepLocks removes the own names of locks whose owner is gone, with the lock files
// that are the same inode, and counts them.
func (r *refs) SweepLocks() (swept int, err error) {
	dir := filepath.Join(r.dir, RefLockDir)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		own := filepath.Join(dir, e.Name())
		f, err := LockSegment(own)
		if err != nil {
			return swept, err
		}
		if f == nil {
			continue
		}
		path, err := r.LockOf(e.Name(), f)
		if err == nil && path != "" {
			err = os.Remove(path)
		}
		if err == nil {
			err = os.Remove(own)
		}
		if err = errors.Join(err, flock.Release(f)); err != nil {
			return swept, err
		}
		swept++
	}
	return swept, nil
}
