// Package flock holds files and directories that a process is at work on. A flock is
// free as soon as its process is gone, however it ended: nothing here is decided by
// what a file says. It knows nothing of Git.
package flock

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// HeldError says that the flock of a file can't be had: another process has it,
// which then is unix.EWOULDBLOCK, or the file system has none.
type HeldError struct {
	Path string
	Err  error
}

func (e *HeldError) Error() string { return "lock " + e.Path + ": " + e.Err.Error() }

// Unwrap gives flock's error.
func (e *HeldError) Unwrap() error { return e.Err }

// Hold opens what is at path, by flags of os.OpenFile, and takes its flock, by an
// operation of flock(2), without waiting. The error wraps fs.ErrNotExist if
// nothing is there, or something else by now, and is a *HeldError if the flock
// can't be had. It is given up by Release.
func Hold(path string, flags, how int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	if err := Take(f, how|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, &HeldError{path, err}
	}
	is, err := disk.IsAt(path, f)
	if err == nil && !is {
		err = &fs.PathError{Op: "lock", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, errors.Join(err, Release(f))
	}
	return f, nil
}

// Release gives the flock up, explicitly: a child that is being started has the
// descriptor too until it runs.
func Release(f *os.File) error {
	return errors.Join(Take(f, unix.LOCK_UN), f.Close())
}

// IsHeld tells of an error of Hold that somebody is at work there, or may be.
func IsHeld(err error) bool {
	var held *HeldError
	return errors.As(err, &held)
}

// Take is flock(2). It retries when a signal interrupts it.
func Take(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
