//go:build unix

package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// Mode is how a lock is held.
type Mode uint8

// Any number of holders may share a lock; an exclusive holder is alone.
const (
	Exclusive Mode = iota
	Shared
)

// ErrHeld is what errors.Is finds in a HeldError.
var ErrHeld = errors.New("lock is held")

// HeldError says that someone else holds a lock, this process through another
// Lock included. Holder is nil if who it is is not known.
type HeldError struct {
	Path   string
	Holder *Note
	Cause  error // why Wait gave up, nil from Try
}

func (e *HeldError) Error() string {
	who := "another process"
	if e.Holder != nil {
		who = e.Holder.String()
	}
	if e.Cause != nil {
		return fmt.Sprintf("held by %s (%s): %s", who, e.Path, e.Cause)
	}
	return fmt.Sprintf("held by %s (%s)", who, e.Path)
}

// Unwrap gives ErrHeld and, from Wait, the context's error.
func (e *HeldError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrHeld}
	}
	return []error{ErrHeld, e.Cause}
}

// Lock is a held lock. It ends with Release or with the process.
type Lock struct {
	file *os.File
	path string
	mode Mode
	note []byte
}

// Path is the lock's file.
func (l *Lock) Path() string { return l.path }

// Mode is how the lock is held.
func (l *Lock) Mode() Mode { return l.mode }

// Try takes the lock at path, or answers a *HeldError at once.
func Try(path string, mode Mode, owner Owner) (*Lock, error) {
	for {
		file, err := open(path)
		if err != nil {
			return nil, err
		}
		err = flock(file, operation(mode)|unix.LOCK_NB)
		if err == unix.EWOULDBLOCK {
			file.Close()
			return nil, held(path, nil)
		}
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		is, err := disk.IsAt(path, file)
		if err != nil {
			release(file)
			return nil, &FileError{path, reason(err)}
		}
		if !is {
			// Someone deleted the file, against the rule: a lock on what is no
			// longer at path excludes nobody.
			release(file)
			continue
		}
		l := &Lock{file: file, path: path, mode: mode, note: noteBytes(owner, time.Now(), file)}
		// A full disk must not keep anyone from locking.
		_, _ = file.WriteAt(l.note, 0)
		return l, nil
	}
}

// Wait takes the lock at path, trying again until it is free or the context
// ends; then the error is a *HeldError that wraps the context's. A context
// that has ended already still tries once.
func Wait(ctx context.Context, path string, mode Mode, owner Owner) (*Lock, error) {
	const first, most = 200 * time.Microsecond, 10 * time.Millisecond
	var waiting *os.File
	defer func() {
		if waiting != nil {
			_ = release(waiting)
		}
	}()
	for pause := first; ; pause = min(2*pause, most) {
		l, err := Try(path, mode, owner)
		if err == nil || !errors.Is(err, ErrHeld) {
			return l, err
		}
		if waiting == nil {
			waiting = waitInTurn(path)
		}
		if !sleep(ctx, pause/2+rand.N(pause)) {
			return nil, held(path, context.Cause(ctx))
		}
	}
}

func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Release frees the lock. Calling it again does nothing; not for use from
// two goroutines at once.
func (l *Lock) Release() error {
	if l == nil || l.file == nil {
		return nil
	}
	l.eraseNote()
	err := release(l.file)
	l.file = nil
	if err != nil {
		return fmt.Errorf("unlock %s: %w", l.path, err)
	}
	return nil
}

// eraseNote blanks the note if it is still this lock's: of several holders of
// a shared lock the last one to come has signed.
func (l *Lock) eraseNote() {
	there := make([]byte, noteSize)
	if _, err := l.file.ReadAt(there, 0); err == nil && string(there) == string(l.note) {
		_, _ = l.file.WriteAt(blankNote(), 0)
	}
}

// release unlocks before it closes: a child that is just being started holds
// a copy of the descriptor until it execs, and a close alone would leave the
// lock with it.
func release(file *os.File) error {
	return errors.Join(flock(file, unix.LOCK_UN), file.Close())
}

func operation(mode Mode) int {
	if mode == Shared {
		return unix.LOCK_SH
	}
	return unix.LOCK_EX
}

func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// FileError is the error of a lock's file that can't be opened or looked at, or that is no file.
type FileError struct {
	Path string
	Err  error
}

func (e *FileError) Error() string { return fmt.Sprintf("the lock %s: %s", e.Path, e.Err) }

// Unwrap gives why.
func (e *FileError) Unwrap() error { return e.Err }

// Check reports whether what is at path, if anything, can be a lock: if not, the
// error is a *FileError.
func Check(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	return &FileError{Path: path, Err: disk.ErrNotRegular}
}

func open(path string) (*os.File, error) {
	// a FIFO is not waited for
	const flags = os.O_RDWR | os.O_CREATE | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK
	if err := Check(path); err != nil {
		return nil, err
	}
	file, err := disk.OpenFile(path, flags, 0o600)
	if errors.Is(err, os.ErrNotExist) {
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, &FileError{path, reason(err)} // nothing above it is made anew: a home may have been moved
		}
		file, err = disk.OpenFile(path, flags, 0o600)
	}
	if errors.Is(err, unix.EROFS) || errors.Is(err, unix.EACCES) {
		// The kernel locks what was opened to be read as well: whoever holds it so
		// leaves no note.
		if readable, rerr := disk.OpenFile(path, flags&^(os.O_RDWR|os.O_CREATE), 0); rerr == nil {
			return readable, nil
		}
	}
	if err != nil {
		return nil, &FileError{path, reason(err)}
	}
	return file, nil
}

// reason is why, without the path.
func reason(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}

func held(path string, cause error) *HeldError {
	e := &HeldError{Path: path, Cause: cause}
	if note, ok := Holder(path); ok {
		e.Holder = &note
	}
	return e
}
