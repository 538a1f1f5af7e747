package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// LockError turns a lock that somebody else holds, or that can't be taken, into what the
// user is told.
func LockError(err error) error {
	if file, ok := errors.AsType[*lock.FileError](err); ok {
		return lockFileError(file)
	}
	var held *lock.HeldError
	if !errors.As(err, &held) {
		return err
	}
	if errors.Is(err, context.Canceled) {
		return missions.Errorf(missions.KindInterrupted, "", "interrupted while another operation was waited for: %w", err)
	}
	return missions.Errorf(missions.KindBusy, "wait for it to end and try again", "another operation is at work here: %w", err)
}

// lockFileError is the error of a lock that is not what it must be. It says nothing of
// what the lock is for.
func lockFileError(err *lock.FileError) error {
	if lock.Check(err.Path) != nil {
		return missions.Errorf(missions.KindDamaged, "mv "+ShellQuote(err.Path)+" "+ShellQuote(err.Path+".away"), "%w", err)
	}
	return missions.Errorf(missions.KindFailed, "", "%w", err)
}

// ErrHeld is found in the error of Hold when another process has the home
// lock, and with it the socket.
var ErrHeld = errors.New("another process serves this home")

// Lock is the held home lock, which guards the index and the live watchers.
// Whoever has it serves the socket.
type Lock struct{ held *lock.Lock }

// Hold takes the home lock for a process that serves, known to people as
// command, or answers an error that wraps ErrHeld at once.
func (h Home) Hold(command string) (*Lock, error) {
	held, err := lock.Try(h.LockFile(), lock.Exclusive, lock.Self(command))
	if errors.Is(err, lock.ErrHeld) {
		return nil, missions.Errorf(missions.KindBusy, "umbra daemon status", "%w: %s", ErrHeld, err)
	}
	if file, ok := errors.AsType[*lock.FileError](err); ok {
		return nil, lockFileError(file)
	}
	if err != nil {
		return nil, fmt.Errorf("take the home lock: %w", err)
	}
	return &Lock{held}, nil
}

// Release frees the lock.
func (l *Lock) Release() error { return l.held.Release() }

// Identity is the directory that the home is in now. A home that was copied is another,
// though it holds the same files, and so is what is at the path of one that was
// moved.
func (h Home) Identity() (FileIdentity, error) {
	info, err := os.Lstat(h.Dir)
	if err != nil {
		return FileIdentity{}, err
	}
	return IdentityOf(info), nil
}

// LockHolder names the process that has the home lock, for messages, and its pid.
// ok is false if nobody is known to have it.
func (h Home) LockHolder() (text string, pid int, ok bool) {
	note, ok := lock.Holder(h.LockFile())
	if !ok {
		return "", 0, false
	}
	return note.String(), note.PID, true
}

// Socket is the path of the socket that is served now, "" if none is known.
func (h Home) Socket() string {
	p, err := disk.ReadFile(h.SocketFile())
	path := strings.TrimSuffix(string(p), "\n")
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// PublishSocket tells clients where the socket is. The caller has the home lock.
func (h Home) PublishSocket(path string) error {
	if err := journal.WriteVolatile(h.Dir, h.SocketFile(), 0o600, []byte(path+"\n")); err != nil {
		return fmt.Errorf("publish the socket: %w", err)
	}
	return nil
}
