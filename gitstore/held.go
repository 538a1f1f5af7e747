package gitstore

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// Whoever is at work on a file or directory holds its flock, so that it is free
// as soon as that process is gone, however it ended.

// heldError says that the flock of a file can't be had: another process has it,
// which then is unix.EWOULDBLOCK, or the file system has none.
type heldError struct {
	Path string
	Err  error
}

func (e *heldError) Error() string { return "lock " + e.Path + ": " + e.Err.Error() }

// Unwrap gives flock's error.
func (e *heldError) Unwrap() error { return e.Err }

// hold opens what is at path, by flags of os.OpenFile, and takes its flock, by an
// operation of flock(2), without waiting. The error wraps fs.ErrNotExist if
// nothing is there, or something else by now, and is a *heldError if the flock
// can't be had. It is given up by release.
func hold(path string, flags, how int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, err
	}
	if err := flock(f, how|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, &heldError{path, err}
	}
	is, err := disk.IsAt(path, f)
	if err == nil && !is {
		err = &fs.PathError{Op: "lock", Path: path, Err: fs.ErrNotExist}
	}
	if err != nil {
		return nil, errors.Join(err, release(f))
	}
	return f, nil
}

// release gives the flock up, explicitly: a child that is being started has the
// descriptor too until it runs.
func release(f *os.File) error {
	return errors.Join(flock(f, unix.LOCK_UN), f.Close())
}

// isHeld tells of an error of hold that somebody is at work there, or may be.
func isHeld(err error) bool {
	var held *heldError
	return errors.As(err, &held)
}

// flock retries when a signal interrupts it.
func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}
